//! Listens, and has connections.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use timeline_store::{ByteStream, shake_hands};
use tokio::sync::{Semaphore, watch};
use tokio::time::{interval, sleep};
use tokio_io_timeout::TimeoutStream;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::timeout::RequestBodyTimeoutLayer;

use super::failure::RequestFailure;
use super::guard::{Hosts, guard};
use super::options::{ServerAccess, ServerOptions};
use super::reply::negotiate;
use super::state::ServerState;
use super::{
    api, changes, control, copies, files, latency, openapi, page, recordings, streams, watches,
};
use crate::error::{Error, Result};
use crate::logs::Logs;

/// Connections at once. Others wait.
const CONNECTIONS: usize = 512;
/// How long a client may take for the head of a request, or be silent between two requests.
const HEAD: Duration = Duration::from_secs(30);
/// How long a client may be silent in the body of a request, or read nothing of an answer.
const BODY: Duration = Duration::from_secs(30);
/// Most bytes of a head.
const HEAD_BYTES: usize = 64 << 10;
/// Most bytes of a body.
const MOST_BODY: usize = 64 << 10;
/// How often logs are closed that nobody reads.
const TIDY: Duration = Duration::from_secs(5);
/// How long answers may go on after the server was stopped.
const END: Duration = Duration::from_millis(500);

/// A server that listens already.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    state: Arc<ServerState>,
    access: ServerAccess,
    stop: watch::Sender<bool>,
}

/// Stops a server.
#[derive(Clone)]
pub struct Handle(watch::Sender<bool>);

impl Handle {
    /// Has the server end. Answers that go on are cut off.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Listens. Requests are answered by [`Server::run`].
    ///
    /// # Errors
    /// `Listen` if the address is in use or not allowed; `Path` if there is nothing at a path.
    pub fn bind(options: &ServerOptions) -> Result<Server> {
        let listen = options.listen;
        let failed = |reason| Error::Listen {
            address: listen,
            reason,
        };
        let logs = Logs::new(
            &options.paths,
            options.agent.is_some(),
            &options.executables,
        )?;
        let listener = timeline_net::listen(listen, options.socket.as_deref()).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Server {
            listener,
            address,
            state: Arc::new(ServerState::new(logs, options)),
            access: options.access.clone(),
            stop: watch::Sender::new(false),
        })
    }

    /// The address that is listened on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it from another thread.
    pub fn handle(&self) -> Handle {
        Handle(self.stop.clone())
    }

    /// Answers requests until the server is stopped.
    ///
    /// # Errors
    /// `Io` if the system refuses threads.
    pub fn run(self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::io("start threads", error))?;
        // The last that has the state closes the logs, and removes what is temporary. That takes as
        // long as it takes, and the threads of answers are not waited for as long.
        let state = Arc::clone(&self.state);
        let result = runtime.block_on(self.accept());
        runtime.shutdown_timeout(END);
        drop(state);
        result
    }

    async fn accept(self) -> Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)
            .map_err(|error| Error::io("listen", error))?;
        let hosts = Hosts {
            address: self.address,
            is_open: !self.address.ip().is_loopback(),
        };
        let router = router(Arc::clone(&self.state), hosts);
        let free = Arc::new(Semaphore::new(CONNECTIONS));
        let mut stopped = self.stop.subscribe();
        tokio::spawn(tidy(Arc::clone(&self.state)));
        loop {
            let accept = async {
                let permit = Arc::clone(&free).acquire_owned().await;
                (permit.expect("never closed"), listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                accepted = accept => accepted,
                _ = stopped.wait_for(|is_stopped| *is_stopped) => return Ok(()),
            };
            let Ok((socket, from)) = accepted else {
                // There are too many open files, say. Others may be closed soon.
                sleep(Duration::from_millis(50)).await;
                continue;
            };
            let (access, router) = (self.access.clone(), router.clone());
            tokio::spawn(async move {
                // The client learns of what fails by the end of the connection.
                if let Ok(arrival) = shake_hands(socket, from, access.encryption).await {
                    let router = match arrival.is_private || access.is_insecure {
                        true => router,
                        false => Router::new().fallback(|| async { readable() }),
                    };
                    answer(arrival.stream, router).await;
                }
                drop(permit);
            });
        }
    }
}

/// Answers the requests of a connection until it ends.
async fn answer(stream: Box<dyn ByteStream>, router: Router) {
    let service = TowerToHyperService::new(router);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(BODY));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    let _ = connection.await;
}

/// The answer to whoever asks so that everybody in between can read it.
fn readable() -> RequestFailure {
    let message = "expected an encrypted connection, got one that everybody in between can read; \
                   say https";
    RequestFailure::new(StatusCode::FORBIDDEN, message)
}

/// Closes logs that nobody reads.
async fn tidy(state: Arc<ServerState>) {
    let mut often = interval(TIDY);
    loop {
        often.tick().await;
        let state = Arc::clone(&state);
        let _ = tokio::task::spawn_blocking(move || state.logs.forget_idle()).await;
    }
}

fn router(state: Arc<ServerState>, hosts: Hosts) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/app/{*name}", get(page::file))
        .route("/api/server", get(api::server))
        .route("/api/openapi.json", get(openapi::describe))
        .route("/api/logs", get(api::logs))
        .route("/api/changes", get(changes::changes))
        .route("/api/logs/{log}", get(api::log).delete(files::remove))
        .route("/api/logs/{log}/lines", get(api::lines))
        .route("/api/logs/{log}/lines/{line}", get(api::line))
        .route("/api/logs/{log}/at", get(api::at))
        .route("/api/logs/{log}/events", get(api::events))
        .route("/api/logs/{log}/search", get(streams::search_log))
        .route("/api/logs/{log}/tracks", get(api::track_counts))
        .route("/api/logs/{log}/overview", get(api::counts))
        .route("/api/logs/{log}/definitions", get(api::all_definitions))
        .route("/api/logs/{log}/threads", get(api::all_threads))
        .route("/api/logs/{log}/unknown", get(api::all_unknown_names))
        .route("/api/logs/{log}/follow", get(streams::follow))
        .route("/api/logs/{log}/file", get(files::file))
        .route("/api/logs/{log}/files", get(files::files))
        .route("/api/logs/{log}/files/{name}", get(files::one_file))
        .route("/api/logs/{log}/archive", get(copies::archive))
        .route("/api/logs/{log}/durations", get(latency::durations))
        .route(
            "/api/logs/{log}/durations/list",
            get(latency::duration_list),
        )
        .route("/api/logs/{log}/spans", get(latency::spans))
        .route("/api/logs/{log}/control", get(control::state))
        .route("/api/logs/{log}/rules", post(control::add_rules))
        .route("/api/logs/{log}/sample", post(control::sample))
        .route("/api/logs/{log}/watch", post(watches::watch))
        .route("/api/logs/{log}/channels", post(control::switch_channel))
        .route("/api/logs/{log}/snapshot", post(control::snapshot))
        .route(
            "/api/recordings",
            get(recordings::list).post(recordings::begin),
        )
        .route("/api/recordings/{number}", delete(recordings::end))
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .with_state(Arc::clone(&state))
        .fallback(|| async { RequestFailure::new(StatusCode::NOT_FOUND, "there is no such page") })
        .method_not_allowed_fallback(|| async {
            let message = "expected another method; /api/openapi.json says which";
            RequestFailure::new(StatusCode::METHOD_NOT_ALLOWED, message)
        })
        .layer(RequestBodyTimeoutLayer::new(BODY))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state((state, hosts), guard))
        .layer(from_fn(negotiate))
        // More effort would take longer than it saves, also on a slow network.
        .layer(CompressionLayer::new().quality(CompressionLevel::Fastest))
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    RequestFailure::broken().into_response()
}
