//! Accepts feeds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::admission::Refusals;
use mgn_fabric::{Access, Config, Incoming, Listener, Receiver, Role, Sender};

use crate::board::Board;
use crate::message::{FromFeed, Opening, MESSAGE_MAX};
use crate::outbox::Outbox;

/// How soon the listener notices that the viewer ends.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// The interval between checks whether a feed's token has been revoked.
const REVIEW_EVERY: Duration = Duration::from_secs(1);

/// Accepts feeds until the viewer ends.
pub fn serve(listener: &Listener, access: &Arc<Access>, board: &Arc<Board>, stop: &AtomicBool) {
    let mut refusals = Refusals::of("feeds that were refused");
    while !stop.load(Ordering::Relaxed) {
        refusals.log_report();
        match listener.accept_timeout(STOP_CHECK_INTERVAL) {
            Ok(Some(incoming)) => {
                let source = incoming.caller().source();
                if let Err(why) = welcome(incoming, access, board) {
                    refusals.log(source, "a feed", Some(listener.address()), &why);
                }
            }
            Ok(None) => {}
            Err(error) => {
                tracing::error!("cannot accept further feeds: {error}");
                return;
            }
        }
    }
}

/// Starts the threads of a feed, or says why it is refused.
fn welcome(incoming: Incoming, access: &Arc<Access>, board: &Arc<Board>) -> Result<(), String> {
    let incoming = incoming.require(Role::Server, "send pictures to a viewer")?;
    let outbox = Arc::new(Outbox::default());
    let opening = Opening::decode(incoming.opening()).map_err(|why| why.to_string());
    let joined = opening.and_then(|opening| {
        let number = board.join(&opening, outbox.clone())?;
        Ok((opening, number))
    });
    let (opening, number) = match joined {
        Ok(joined) => joined,
        Err(why) => {
            incoming.refuse(&why);
            return Err(why);
        }
    };
    let tile = usize::from(opening.tile);
    let (theirs, access) = (board.clone(), access.clone());
    let spawned = thread::Builder::new()
        .name(format!("feed {tile}"))
        .spawn(move || {
            let board = theirs;
            let name = &board.wall.tiles[tile].name;
            tracing::info!("tile {name}: {} has connected", opening.name);
            let why = attend(incoming, &access, &board, tile, number, &outbox);
            outbox.close();
            board.leave(tile, number);
            tracing::info!("tile {name}: {} has disconnected: {why}", opening.name);
        });
    spawned.map(drop).map_err(|error| {
        board.leave(tile, number);
        format!("cannot start a thread for it: {error}")
    })
}

/// Serves a feed until it leaves. Returns the reason.
fn attend(
    incoming: Incoming,
    access: &Access,
    board: &Board,
    tile: usize,
    number: u64,
    outbox: &Arc<Outbox>,
) -> String {
    let config = Config {
        message_max: MESSAGE_MAX,
        send_pool_bytes: 0,
        recv_pool_bytes: 0,
        large_max: 0,
        ..Config::default()
    };
    let caller = incoming.caller();
    let (sender, receiver) = match incoming.accept(&[], &config) {
        Ok(connection) => connection.split(),
        Err(error) => return error.to_string(),
    };
    let sender = Arc::new(sender);
    let (asker, theirs) = (sender.clone(), outbox.clone());
    let asking = thread::Builder::new()
        .name(format!("asks {tile}"))
        .spawn(move || ask(&asker, &theirs));
    if let Err(error) = asking {
        return error.to_string();
    }
    let stays = || access.revoked(&caller).map_or(Ok(()), Err);
    let why = listen(receiver, stays, board, tile, number, outbox);
    // A feed that does not read its requests must not block the thread that sends them.
    sender.hang_up();
    why
}

fn ask(sender: &Sender, outbox: &Outbox) {
    while let Some(ask) = outbox.take() {
        if sender.send(&ask.encode()).is_err() {
            return;
        }
    }
}

/// Handles a feed's messages. `stays` is called at intervals, and says whether the feed may
/// continue, or why not.
fn listen(
    mut receiver: Receiver,
    stays: impl Fn() -> Result<(), String>,
    board: &Board,
    tile: usize,
    number: u64,
    outbox: &Outbox,
) -> String {
    let mut reviewed = Instant::now();
    while !outbox.is_closed() {
        if reviewed.elapsed() >= REVIEW_EVERY {
            reviewed = Instant::now();
            if let Err(why) = stays() {
                return why;
            }
        }
        let bytes = match receiver.recv(Some(STOP_CHECK_INTERVAL)) {
            Ok(None) => continue,
            Ok(Some(message)) => message.to_vec(),
            Err(error) => return error.to_string(),
        };
        let told = FromFeed::decode(&bytes).and_then(|told| match told {
            FromFeed::Picture(head, jpeg) => board.picture(tile, number, head, jpeg),
            FromFeed::Figures(figures) => {
                board.figures(tile, number, figures);
                Ok(())
            }
        });
        if let Err(why) = told {
            return why.to_string();
        }
    }
    "another feed has replaced it, or the viewer is ending".into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Ask, Form};
    use mgn_fabric::{Address, Transport};
    use mgn_wall::Wall;

    const TIMEOUT: Duration = Duration::from_secs(60);

    #[test]
    fn a_feed_that_reads_no_asks_keeps_no_thread() {
        let address = format!("unix:@mgn-feed-listener-{}", std::process::id());
        let address: Address = address.parse().unwrap();
        let listener = Listener::bind(&address, None).unwrap();
        let feed = thread::spawn(move || {
            mgn_fabric::connect(&address, Transport::Unix, None, b"", TIMEOUT).unwrap()
        });
        let incoming = listener.accept().unwrap();
        let outbox = Arc::new(Outbox::default());
        let theirs = outbox.clone();
        let attending = thread::spawn(move || {
            let board = Board::new(Wall::grid(1, 1).unwrap(), TIMEOUT);
            attend(incoming, &Access::from(None), &board, 0, 1, &theirs)
        });
        let _deaf = feed.join().unwrap();
        let ask = Ask {
            frame: 1,
            have: 0,
            form: Form::default(),
        };
        // More than fits into the socket.
        for _ in 0..5000 {
            outbox.put(ask);
            thread::sleep(Duration::from_micros(50));
        }
        outbox.close();
        attending.join().unwrap();
        let limit = Instant::now() + TIMEOUT;
        while Arc::strong_count(&outbox) > 1 {
            assert!(Instant::now() < limit, "the thread stays");
            thread::sleep(Duration::from_millis(10));
        }
    }
}
