//! A server in a process of its own, and requests to it, also such as no client sends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// `timeline serve`, until this is dropped.
pub struct Served {
    process: Child,
    /// The host and the port.
    pub host: String,
    /// The token, if requests need one.
    pub token: Option<String>,
}

/// An answer.
pub struct Answer {
    pub status: u16,
    /// The head, in small letters.
    pub head: String,
    pub body: Vec<u8>,
}

impl Served {
    /// Serves these paths with these options, on a port of its own.
    pub fn begin(words: &[&str]) -> Served {
        Served::begin_at("127.0.0.1:0", words)
    }

    pub fn begin_at(address: &str, words: &[&str]) -> Served {
        Served::begin_in(&std::env::temp_dir(), address, words)
    }

    /// Serves with this directory for temporary files.
    pub fn begin_in(temporary: &Path, address: &str, words: &[&str]) -> Served {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
        command.env("TMPDIR", temporary);
        Served::begin_by(command, address, words)
    }

    /// Serves by a command without words yet: in a directory of its own, or as another user.
    pub fn begin_by(mut command: Command, address: &str, words: &[&str]) -> Served {
        let mut process = command
            .args(["serve", "--listen", address])
            .args(words)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("http://").expect("an address");
        let (host, rest) = url.split_once('/').unwrap();
        let token = rest.strip_prefix("#token=").map(String::from);
        Served {
            process,
            host: host.to_owned(),
            token,
        }
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Kills it.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Interrupts it as Ctrl-C does, and waits until it has ended, with success.
    pub fn interrupt(&mut self) {
        let pid = Pid::from_raw(self.process.id().cast_signed());
        kill(pid, Signal::SIGINT).unwrap();
        assert!(self.process.wait().unwrap().success());
    }

    /// A connection, on which nobody waits for ever.
    pub fn connect(&self) -> TcpStream {
        let port = self.host.rsplit(':').next().unwrap();
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Sends bytes, and reads until the server ends the connection.
    pub fn raw(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The server may have refused it before all was sent.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// A request with these further lines in its head.
    pub fn ask(&self, method: &str, path: &str, head: &[&str], body: &str) -> Answer {
        let mut lines = vec![format!("{method} {path} HTTP/1.1")];
        if !head
            .iter()
            .any(|line| line.to_lowercase().starts_with("host:"))
        {
            lines.push(format!("Host: {}", self.host));
        }
        lines.extend(head.iter().map(|line| line.to_string()));
        lines.push("Connection: close".into());
        if !body.is_empty() {
            lines.push(format!("Content-Length: {}", body.len()));
        }
        let request = lines.join("\r\n") + "\r\n\r\n" + body;
        Answer::of(&self.raw(request.as_bytes()))
    }

    pub fn get(&self, path: &str) -> Answer {
        let token = self
            .token
            .as_ref()
            .map(|token| format!("Authorization: Bearer {token}"));
        let head: Vec<&str> = token.iter().map(String::as_str).collect();
        self.ask("GET", path, &head, "")
    }

    /// What a request that succeeds is answered.
    pub fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Answer {
    pub fn of(bytes: &[u8]) -> Answer {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no head in {:?}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8(bytes[..end].to_vec())
            .unwrap()
            .to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = &bytes[end + 4..];
        let body = match head.contains("transfer-encoding: chunked") {
            true => without_chunks(body),
            false => body.to_vec(),
        };
        Answer { status, head, body }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The parts of a stream of events: the name and the data of each.
    pub fn events(&self) -> Vec<(String, Value)> {
        let text = self.text();
        let parts = text.split("\n\n").filter(|part| part.starts_with("event:"));
        let part = |part: &str| {
            let (name, data) = part.split_once('\n').unwrap();
            let data = data.strip_prefix("data: ").unwrap();
            let name = name.strip_prefix("event: ").unwrap();
            (name.to_owned(), serde_json::from_str(data).unwrap())
        };
        parts.map(part).collect()
    }
}

/// Reads a stream of events.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    pub fn begin(served: &Served, path: &str) -> Stream {
        let mut stream = served.connect();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", served.host);
        stream.write_all(request.as_bytes()).unwrap();
        Stream(BufReader::new(stream))
    }

    /// The next event that is as wanted.
    pub fn until(&mut self, is_it: impl Fn(&str, &Value) -> bool) -> Value {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(found) = line.strip_prefix("event: ") {
                name = found.trim_end().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                let data = serde_json::from_str(data).unwrap();
                if is_it(&name, &data) {
                    return data;
                }
            }
        }
    }
}

fn without_chunks(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        let from = end + 2;
        let Some(chunk) = bytes.get(from..from + size).filter(|_| size > 0) else {
            break;
        };
        whole.extend_from_slice(chunk);
        bytes = &bytes[(from + size + 2).min(bytes.len())..];
    }
    whole
}

/// A text as a part of a path or a value.
pub fn quoted(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => (byte as char).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}
