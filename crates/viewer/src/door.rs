//! Where feeds come in.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mgn_fabric::{Config, Incoming, Listener, Receiver, Role, Sender};

use crate::board::Board;
use crate::message::{FromFeed, Opening, MESSAGE_MAX};
use crate::outbox::Outbox;

/// How soon it is noticed that the viewer ends.
const LOOK: Duration = Duration::from_millis(200);

/// Lets feeds in until the viewer ends.
pub fn serve(listener: &Listener, board: &Arc<Board>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        match listener.accept_timeout(LOOK) {
            Ok(Some(incoming)) => welcome(incoming, board),
            Ok(None) => {}
            Err(error) => {
                tracing::error!("no more feeds can come: {error}");
                return;
            }
        }
    }
}

fn welcome(incoming: Incoming, board: &Arc<Board>) {
    let incoming = match incoming.require(Role::Server, "send pictures to a viewer") {
        Ok(incoming) => incoming,
        Err(why) => return tracing::warn!("a feed was turned away: {why}"),
    };
    let outbox = Arc::new(Outbox::default());
    let opening = Opening::decode(incoming.opening()).map_err(|why| why.to_string());
    let joined = opening.and_then(|opening| {
        let number = board.join(&opening, outbox.clone())?;
        Ok((opening, number))
    });
    let (opening, number) = match joined {
        Ok(joined) => joined,
        Err(why) => {
            tracing::warn!("a feed was turned away: {why}");
            return incoming.refuse(&why);
        }
    };
    let tile = usize::from(opening.tile);
    let theirs = board.clone();
    let spawned = thread::Builder::new()
        .name(format!("feed {tile}"))
        .spawn(move || {
            let board = theirs;
            let name = &board.wall.tiles[tile].name;
            tracing::info!("tile {name}: {} has come", opening.name);
            let why = attend(incoming, &board, tile, number, &outbox);
            outbox.close();
            board.leave(tile, number);
            tracing::info!("tile {name}: {} has gone: {why}", opening.name);
        });
    if let Err(error) = spawned {
        tracing::warn!("a feed was turned away: {error}");
        board.leave(tile, number);
    }
}

/// Serves a feed until it goes; says why.
fn attend(
    incoming: Incoming,
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
    let (sender, receiver) = match incoming.accept(&[], &config) {
        Ok(connection) => connection.split(),
        Err(error) => return error.to_string(),
    };
    let theirs = outbox.clone();
    let asking = thread::Builder::new()
        .name(format!("asks {tile}"))
        .spawn(move || ask(&sender, &theirs));
    match asking {
        Ok(_) => listen(receiver, board, tile, number, outbox),
        Err(error) => error.to_string(),
    }
}

fn ask(sender: &Sender, outbox: &Outbox) {
    while let Some(ask) = outbox.take() {
        if sender.send(&ask.encode()).is_err() {
            return;
        }
    }
}

fn listen(
    mut receiver: Receiver,
    board: &Board,
    tile: usize,
    number: u64,
    outbox: &Outbox,
) -> String {
    while !outbox.is_closed() {
        let bytes = match receiver.recv(Some(LOOK)) {
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
    "another has come in its place, or the viewer ends".into()
}
