//! The viewer as a whole: its threads, and their end.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{service_fn, Service};
use hyper::Request;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use mgn_fabric::admission::Source;
use mgn_fabric::{Access, Address, Listener};
use mgn_wall::Wall;
use tokio::sync::oneshot;
use tokio::time::{interval, timeout, MissedTickBehavior};

use crate::board::Board;
use crate::feed_listener;
use crate::secret::Secret;
use crate::web::{router, Web};

/// How often the viewer checks whether a tile has been waited for long enough.
const TICK: Duration = Duration::from_millis(100);
/// How long a request may take to arrive, and how long requests are accepted on one connection.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// The maximum number of bytes of a request, and of an answer, that are buffered.
const REQUEST_MAX: usize = 32 << 10;

#[derive(Debug, Clone)]
pub struct ViewerOptions {
    pub wall: Wall,
    /// Where the page is served, as `tcp:HOST:PORT`; port 0 takes a free one.
    pub listen: Address,
    /// The address for feeds.
    pub feeds: Address,
    /// The feeds that may send pictures over TCP: holders of tokens with the role server, and
    /// servers that have met a client with one of the tokens.
    pub access: Access,
    /// Names of this machine, beside its host name, by which browsers may call it.
    pub names: Vec<String>,
    /// How long tiles wait for a late one before they are shown without it.
    pub patience: Duration,
    /// How long a page may take for pictures before it is sent away.
    pub page_patience: Duration,
}

impl ViewerOptions {
    /// The page on loopback, at any port. Tiles wait for a second, and pages may take 15 seconds.
    pub fn new(wall: Wall, feeds: Address) -> ViewerOptions {
        ViewerOptions {
            wall,
            listen: Address::Tcp {
                host: "127.0.0.1".into(),
                port: 0,
                tls: false,
                server: None,
            },
            feeds,
            access: Access::default(),
            names: Vec::new(),
            patience: Duration::from_secs(1),
            page_patience: Duration::from_secs(15),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ViewerError {
    #[error("the viewer cannot receive pictures: {0}")]
    Feeds(#[from] mgn_fabric::Error),
    #[error("{0} cannot be the address of the page; write tcp:HOST:PORT, and for encryption put an HTTPS proxy in front of the page")]
    Listen(Address),
    #[error("{doing}: {source}")]
    Io { doing: String, source: io::Error },
}

/// A running viewer. It ends when this is dropped.
pub struct Viewer {
    url: String,
    feeds: Address,
    stop: Arc<AtomicBool>,
    end: Option<oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
    board: Arc<Board>,
}

impl Viewer {
    /// Serves the page and takes feeds, in threads of its own.
    ///
    /// # Errors
    /// [`ViewerError`] for addresses that can't be listened at.
    pub fn start(options: ViewerOptions) -> Result<Viewer, ViewerError> {
        let Address::Tcp {
            host,
            port,
            tls: false,
            server: None,
        } = &options.listen
        else {
            return Err(ViewerError::Listen(options.listen));
        };
        let failed = |source| ViewerError::Io {
            doing: format!("cannot serve the page at {}", options.listen),
            source,
        };
        let places: Vec<SocketAddr> = (host.as_str(), *port)
            .to_socket_addrs()
            .map_err(failed)?
            .collect();
        let listener = TcpListener::bind(&places[..]).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let place = listener.local_addr().map_err(failed)?;
        let own_name = own_name();
        let secret = Secret::generate().map_err(failed)?;
        let url = url(host, place, &own_name, &secret);

        let door = Listener::bind(&options.feeds, options.access.clone())?;
        let access = Arc::new(options.access);
        let feeds = door.address().clone();
        let board = Arc::new(Board::new(options.wall, options.patience));
        let stop = Arc::new(AtomicBool::new(false));
        let mut names: Vec<String> = options.names;
        names.extend([own_name, host.clone()]);
        for name in &mut names {
            name.make_ascii_lowercase();
        }
        let web = Arc::new(Web::new(
            board.clone(),
            secret,
            names,
            options.page_patience,
        ));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let (end, ended) = oneshot::channel();

        let mut viewer = Viewer {
            url,
            feeds,
            stop: stop.clone(),
            end: Some(end),
            threads: Vec::new(),
            board: board.clone(),
        };
        let page = thread::Builder::new()
            .name("viewer page".into())
            .spawn(move || runtime.block_on(serve(listener, web, ended)))
            .map_err(failed)?;
        viewer.threads.push(page);
        let door = thread::Builder::new()
            .name("viewer door".into())
            .spawn(move || feed_listener::serve(&door, &access, &board, &stop))
            .map_err(failed)?;
        viewer.threads.push(door);
        Ok(viewer)
    }

    /// The address of the page, with the token: a secret of the people who may watch.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address for feeds, with the port that was chosen.
    pub fn feeds(&self) -> &Address {
        &self.feeds
    }

    /// Waits as long as it runs, which is forever unless something fails.
    pub fn wait(mut self) {
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.board.close();
        self.end.take();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Viewer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Viewer")
            .field("feeds", &self.feeds)
            .finish_non_exhaustive()
    }
}

async fn serve(listener: TcpListener, web: Arc<Web>, ended: oneshot::Receiver<()>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!("the page cannot be served: {error}"),
    };
    let mut clock = interval(TICK);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (board, page_connections) = (web.board.clone(), web.page_connections.clone());
    let ticking = async {
        loop {
            clock.tick().await;
            board.tick();
            page_connections.tick();
        }
    };
    tokio::select! {
        () = accept(listener, web) => {}
        () = ticking => {}
        _ = ended => {}
    }
}

/// Serves all connections.
async fn accept(listener: tokio::net::TcpListener, web: Arc<Web>) {
    let page_connections = web.page_connections.clone();
    let router = TowerToHyperService::new(router(web));
    loop {
        let (socket, source) = match listener.accept().await {
            Ok((socket, place)) => (socket, Source::from(place.ip())),
            Err(error) => {
                // No descriptors or no memory: the browser keeps waiting in the queue.
                page_connections.make_room(&error);
                tokio::time::sleep(TICK).await;
                continue;
            }
        };
        let _ = socket.set_nodelay(true);
        let router = router.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(source);
            router.call(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(REQUEST_TIME)
            .max_buf_size(REQUEST_MAX)
            .serve_connection(TokioIo::new(socket), service)
            .with_upgrades();
        page_connections.admit(source, |admitted| {
            let serve = async move {
                let _admitted = admitted;
                let mut connection = pin!(connection);
                let served = match timeout(REQUEST_TIME, connection.as_mut()).await {
                    Ok(served) => served,
                    Err(_) => {
                        // The answer in progress may still be sent until the time is over.
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                };
                if let Err(error) = served {
                    tracing::debug!("a connection for the page broke: {error}");
                }
            };
            tokio::spawn(serve).abort_handle()
        });
    }
}

fn own_name() -> String {
    let names = rustix::system::uname();
    names.nodename().to_string_lossy().into_owned()
}

fn url(host: &str, place: SocketAddr, own_name: &str, secret: &Secret) -> String {
    let host = match host.parse::<std::net::IpAddr>() {
        Ok(ip) if ip.is_unspecified() => own_name.to_owned(),
        Ok(std::net::IpAddr::V6(ip)) => format!("[{ip}]"),
        _ => host.to_owned(),
    };
    format!("http://{host}:{}/#token={}", place.port(), secret.text())
}
