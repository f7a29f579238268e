//! The end of an endpoint. The messages that it has sent still arrive.

use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::super::link::AnyLink;
use super::super::link_id::LinkId;
use super::{Shared, SLEEP_MAX};
use crate::peer::Peer;
use crate::wait::{poll, Deadline};

/// The time for which an endpoint that stops waits for its peers to read the sent messages.
const PARTING: Duration = Duration::from_secs(2);

impl Shared {
    /// Ends sending on all sockets, and waits for a limited time until the peers have read
    /// everything. If a socket is closed while it holds unread data, the kernel resets the
    /// connection and discards the data that it has sent. A peer that sees the end of both sockets
    /// has read all data before it, and then closes them.
    pub(crate) fn part(&self) {
        if self.owner != std::process::id() {
            return;
        }
        let parting: Vec<Vec<Arc<Peer>>> = {
            let mut state = self.state();
            let links: Vec<LinkId> = state
                .engine
                .links()
                .filter_map(|(id, link)| matches!(link, AnyLink::Stream(_)).then_some(id))
                .collect();
            let peers = links.iter().filter_map(|id| state.peers.get(id).cloned());
            peers.collect()
        };
        for socket in parting.iter().flatten() {
            let _ = rustix::net::shutdown(socket.socket(), rustix::net::Shutdown::Write);
        }
        let deadline = Deadline::after(Some(PARTING));
        for sockets in &parting {
            while sockets.iter().all(|socket| drain(socket)) && !deadline.passed() {
                let wanted = |socket| PollFd::from_borrowed_fd(socket, PollFlags::IN);
                let mut fds: Vec<PollFd<'_>> = sockets
                    .iter()
                    .map(|socket| wanted(socket.socket()))
                    .collect();
                let _ = poll(&mut fds, deadline.left(SLEEP_MAX));
            }
        }
    }
}

/// Discards received data of a socket. Returns false when no more data can come.
fn drain(socket: &Peer) -> bool {
    let mut bytes = [0; 4096];
    loop {
        let flags = rustix::net::RecvFlags::DONTWAIT;
        match rustix::net::recv(socket.socket(), &mut bytes, flags) {
            Ok((0, _)) => return false,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return error == rustix::io::Errno::AGAIN,
        }
    }
}
