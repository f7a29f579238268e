//! One page that watches.

use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use mgn_wall::Wall;
use serde::{Deserialize, Serialize};
use tokio::time::{interval, timeout, MissedTickBehavior};

use crate::board::{Board, Report, View};

const REPORT_EVERY: Duration = Duration::from_secs(1);
/// The code that tells a page why it is refused (RFC 6455 leaves these codes to applications).
const WRONG_TOKEN: u16 = 4001;
const TOO_SLOW: u16 = 4002;
const NONSENSE: u16 = 4003;
/// How long the page may take to read the reason.
const GOODBYE: Duration = Duration::from_secs(5);

/// A message from a page.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FromPage {
    View(View),
    /// The page has drawn one more message with pictures.
    Taken,
}

/// A message to a page, except pictures.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum ToPage<'a> {
    Wall(&'a Wall),
    Tiles(&'a [Report]),
}

/// Serves a page until it leaves, or takes longer than `patience` for what it is sent.
pub async fn attend(socket: WebSocket, board: &Board, patience: Duration) {
    let (number, changed) = board.watch();
    let mut page = Page { socket, patience };
    let end = serve(&mut page, board, number, changed).await;
    board.unwatch(number);
    if let Err((code, why)) = end {
        tracing::info!("a page was sent away: {why}");
        close(page.socket, code, why).await;
    }
}

/// Tells a page that its token is wrong. An HTTP answer could not, because scripts do not see the
/// answer to a WebSocket request.
pub async fn refuse(socket: WebSocket) {
    close(socket, WRONG_TOKEN, "the token is wrong").await;
}

struct Page {
    socket: WebSocket,
    patience: Duration,
}

type End = Result<(), (u16, &'static str)>;

async fn serve(
    page: &mut Page,
    board: &Board,
    number: u64,
    mut changed: tokio::sync::watch::Receiver<()>,
) -> End {
    page.send_json(&ToPage::Wall(&board.wall)).await?;
    let mut told: Vec<Report> = Vec::new();
    let mut clock = interval(REPORT_EVERY);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut drew = Instant::now();
    loop {
        let mut due = false;
        tokio::select! {
            said = page.next() => match said {
                None => return Ok(()),
                Some(Ok(FromPage::View(view))) => {
                    board.look(number, view).map_err(|why| (NONSENSE, why.0))?;
                }
                Some(Ok(FromPage::Taken)) => {
                    drew = Instant::now();
                    board.taken(number);
                }
                Some(_) => return Err((NONSENSE, "the page sent an unknown message")),
            },
            _ = changed.changed() => {}
            _ = clock.tick() => due = true,
        }
        if let Some(pictures) = board.next(number) {
            page.send(Message::Binary(pictures.into())).await?;
        }
        if !board.owes(number) {
            drew = Instant::now();
        } else if drew.elapsed() > page.patience {
            return Err((TOO_SLOW, "the page has drawn nothing for too long"));
        }
        let report = board.report();
        let news = report.iter().map(Report::news);
        if due || news.ne(told.iter().map(Report::news)) {
            page.send_json(&ToPage::Tiles(&report)).await?;
            told = report;
        }
    }
}

impl Page {
    /// The page's next message; none when it has gone.
    async fn next(&mut self) -> Option<Result<FromPage, ()>> {
        loop {
            match self.socket.recv().await?.ok()? {
                Message::Text(text) => return Some(serde_json::from_str(&text).map_err(|_| ())),
                Message::Binary(_) => return Some(Err(())),
                Message::Close(_) => return None,
                Message::Ping(_) | Message::Pong(_) => {}
            }
        }
    }

    async fn send_json(&mut self, what: &ToPage<'_>) -> End {
        let text = serde_json::to_string(what).expect("it has a serialised form");
        self.send(Message::Text(text.into())).await
    }

    async fn send(&mut self, message: Message) -> End {
        match timeout(self.patience, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err((TOO_SLOW, "the page has gone")),
            Err(_) => Err((TOO_SLOW, "the page reads nothing")),
        }
    }
}

async fn close(mut socket: WebSocket, code: u16, why: &'static str) {
    let frame = CloseFrame {
        code,
        reason: why.into(),
    };
    let _ = timeout(GOODBYE, socket.send(Message::Close(Some(frame)))).await;
}
