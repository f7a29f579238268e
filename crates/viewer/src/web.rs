//! The page and its WebSocket, by HTTP.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State, WebSocketUpgrade};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::middleware::{from_fn_with_state, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Extension, Router};
use mgn_fabric::admission::Source;
use tokio::sync::Semaphore;

use crate::board::Board;
use crate::page_connections::PageConnections;
use crate::secret::Secret;
use crate::watcher;

/// The maximum number of pages at one time.
const PAGES_MAX: usize = 64;
/// The number of pages that may be informed at once that their token is wrong.
const REFUSED_MAX: usize = 16;
/// The maximum length of a page's message, which is short.
const SAID_MAX: usize = 4096;

/// The protocol of page and viewer on the WebSocket.
const PROTOCOL: &str = "manganese-viewer";

const ASSETS: [(&str, &str, &str); 6] = [
    (
        "/",
        "text/html; charset=utf-8",
        include_str!("../page/index.html"),
    ),
    (
        "/viewer.css",
        "text/css; charset=utf-8",
        include_str!("../page/viewer.css"),
    ),
    (
        "/viewer.js",
        "text/javascript; charset=utf-8",
        include_str!("../page/viewer.js"),
    ),
    (
        "/wall.js",
        "text/javascript; charset=utf-8",
        include_str!("../page/wall.js"),
    ),
    (
        "/panel.js",
        "text/javascript; charset=utf-8",
        include_str!("../page/panel.js"),
    ),
    (
        "/icon.svg",
        "image/svg+xml",
        include_str!("../page/icon.svg"),
    ),
];

pub struct Web {
    pub board: Arc<Board>,
    pub secret: Secret,
    /// Names by which this machine may be called, in lower case.
    pub names: Vec<String>,
    /// How long a page may take for pictures.
    pub patience: Duration,
    pages: Arc<Semaphore>,
    refused: Arc<Semaphore>,
    pub page_connections: Arc<PageConnections>,
}

impl Web {
    pub fn new(board: Arc<Board>, secret: Secret, names: Vec<String>, patience: Duration) -> Web {
        Web {
            board,
            secret,
            names,
            patience,
            pages: Arc::new(Semaphore::new(PAGES_MAX)),
            refused: Arc::new(Semaphore::new(REFUSED_MAX)),
            page_connections: Arc::new(PageConnections::default()),
        }
    }
}

pub fn router(web: Arc<Web>) -> Router {
    let mut router = Router::new().route("/watch", any(watch));
    for (path, kind, text) in ASSETS {
        router = router.route(
            path,
            get(move || async move { ([(header::CONTENT_TYPE, kind)], text) }),
        );
    }
    router
        .layer(from_fn_with_state(web.clone(), guard))
        .with_state(web)
}

/// Refuses requests that another site made a browser send, and tells browsers what the page may do.
async fn guard(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response {
    let Some(host) = host(request.headers(), request.uri(), &web.names) else {
        let why = "the viewer is not known by this name; use an IP address or localhost, or add the name with --name\n";
        return (StatusCode::MISDIRECTED_REQUEST, why).into_response();
    };
    let mut response = next.run(request).await;
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
         connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn watch(
    State(web): State<Arc<Web>>,
    Extension(source): Extension<Source>,
    headers: HeaderMap,
    uri: Uri,
    upgrade: WebSocketUpgrade,
) -> Response {
    let host = host(&headers, &uri, &web.names);
    if !host.is_some_and(|host| is_own_origin(&headers, &host)) {
        return (StatusCode::FORBIDDEN, "this is for the viewer's own page\n").into_response();
    }
    let shown = shows(&headers, &web.secret);
    let places = if shown { &web.pages } else { &web.refused };
    let Ok(page) = places.clone().try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages watch\n").into_response();
    };
    upgrade
        .protocols([PROTOCOL])
        .max_message_size(SAID_MAX)
        .max_frame_size(SAID_MAX)
        .on_upgrade(move |socket| async move {
            match shown {
                true => watcher::attend(socket, &web.board, web.patience).await,
                false => {
                    web.page_connections.refuse(source, "its token is wrong");
                    watcher::refuse(socket).await;
                }
            }
            drop(page);
        })
}

/// Whether the token is among the protocols that the page offers. In a WebSocket's request, this is
/// the only place that a script can set, and it is not logged.
fn shows(headers: &HeaderMap, secret: &Secret) -> bool {
    let offered = headers.get(header::SEC_WEBSOCKET_PROTOCOL);
    let offered = offered.and_then(|offered| offered.to_str().ok());
    let mut offered = offered.unwrap_or_default().split(',').map(str::trim);
    offered.next() == Some(PROTOCOL) && offered.next().is_some_and(|token| secret.is(token))
}

/// The host and port that the browser uses, if they are not a foreign name. Otherwise a site that
/// gives its own name this machine's address (DNS rebinding) would pass for the viewer's page.
fn host(headers: &HeaderMap, uri: &Uri, names: &[String]) -> Option<String> {
    let mut told = headers.get_all(header::HOST).iter();
    let text = match (told.next(), uri.authority()) {
        (Some(host), _) => host.to_str().ok()?,
        (None, Some(authority)) => authority.as_str(),
        (None, None) => return None,
    };
    if told.next().is_some() {
        return None;
    }
    let text = text.to_ascii_lowercase();
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let port_is_one = match port.strip_prefix(':') {
        Some(digits) => digits.parse::<u16>().is_ok(),
        None => port.is_empty(),
    };
    let known = name.parse::<IpAddr>().is_ok()
        || name == "localhost"
        || names.iter().any(|known| known == name);
    (port_is_one && known).then_some(text)
}

/// Whether the page that opens a WebSocket was served by us.
fn is_own_origin(headers: &HeaderMap, host: &str) -> bool {
    let mut told = headers.get_all(header::ORIGIN).iter();
    let (Some(origin), None) = (told.next(), told.next()) else {
        return false;
    };
    let origin = origin.as_bytes();
    let place = origin
        .strip_prefix(b"http://")
        .or(origin.strip_prefix(b"https://"));
    place.is_some_and(|place| place.eq_ignore_ascii_case(host.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn foreign_names_are_refused() {
        let names = ["wall-host".to_owned()];
        let uri = Uri::from_static("/");
        let told = |value: &str| host(&headers(&[("host", value)]), &uri, &names);
        for good in [
            "127.0.0.1:8080",
            "[::1]:80",
            "localhost",
            "LOCALHOST:1",
            "10.0.0.7",
            "wall-host:9",
        ] {
            assert_eq!(told(good), Some(good.to_lowercase()), "{good}");
        }
        for bad in [
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.0.0.1:80:80",
            "127.0.0.1:x",
            "127.0.0.1; script-src *",
            "[::1",
            "",
            "::1",
        ] {
            assert_eq!(told(bad), None, "{bad}");
        }
        assert_eq!(host(&headers(&[]), &uri, &names), None);
        let twice = headers(&[("host", "localhost"), ("host", "localhost")]);
        assert_eq!(host(&twice, &uri, &names), None);
    }

    #[test]
    fn foreign_pages_are_refused() {
        let own = |origin| is_own_origin(&headers(&[("origin", origin)]), "127.0.0.1:8080");
        assert!(own("http://127.0.0.1:8080") && own("https://127.0.0.1:8080"));
        for bad in [
            "http://127.0.0.1",
            "http://127.0.0.1:8081",
            "http://evil.example",
            "null",
            "127.0.0.1:8080",
            "ftp://127.0.0.1:8080",
            "http://127.0.0.1:8080.evil.example",
        ] {
            assert!(!own(bad), "{bad}");
        }
        assert!(!is_own_origin(&headers(&[]), "127.0.0.1:8080"));
    }
}
