//! Stands between senders and a store, and cuts their connections.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Says after how many bytes to the store a connection is cut, by its number; never if it is
/// `None`.
type Plan = dyn Fn(u64) -> Option<u64> + Send + Sync;

/// A proxy. Its threads end with the connections, and with it.
pub struct Proxy {
    pub address: SocketAddr,
    /// Bytes that went to the store.
    pub bytes: Arc<AtomicU64>,
    /// Connections so far.
    pub connections: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Proxy {
    pub fn new(
        store: SocketAddr,
        plan: impl Fn(u64) -> Option<u64> + Send + Sync + 'static,
    ) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy {
            address: listener.local_addr().unwrap(),
            bytes: Arc::default(),
            connections: Arc::default(),
            is_over: Arc::default(),
        };
        let (bytes, connections) = (Arc::clone(&proxy.bytes), Arc::clone(&proxy.connections));
        let is_over = Arc::clone(&proxy.is_over);
        let plan: Arc<Plan> = Arc::new(plan);
        thread::spawn(move || {
            for sender in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let number = connections.fetch_add(1, Ordering::Relaxed);
                if let (Ok(sender), Ok(store)) = (sender, TcpStream::connect(store)) {
                    let (bytes, cut) = (Arc::clone(&bytes), plan(number));
                    thread::spawn(move || between(&sender, &store, cut, &bytes));
                }
            }
        });
        proxy
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for it.
        let _ = TcpStream::connect(self.address);
    }
}

fn between(sender: &TcpStream, store: &TcpStream, cut: Option<u64>, bytes: &AtomicU64) {
    let (mut from, mut to) = (store.try_clone().unwrap(), sender.try_clone().unwrap());
    let back = thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    let (mut from, mut to) = (sender, store);
    match cut {
        None => {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                bytes.fetch_add(count as u64, Ordering::Relaxed);
                if to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
        }
        Some(cut) => {
            let _ = std::io::copy(&mut from.take(cut), &mut to);
        }
    }
    let _ = sender.shutdown(Shutdown::Both);
    let _ = store.shutdown(Shutdown::Both);
    let _ = back.join();
}
