//! A worker process: it opens the driver, waits for a session, serves it and ends.

use crate::answers::{gone, Answers};
use crate::broker::Broker;
use crate::control::{notify_server, Cause, FromWorker, Inbox, Session, ToWorker};
use crate::error::ServerError;
use crate::pictures::{FramesEnd, FramesSlot};
use crate::probe::Abilities;
use crate::replay::{serve, ShutdownNotice};
use crate::sandbox::{self, Profile};
use crate::tile::{OpenScreens, Permission};
use crate::watchdog::{self, Activity, Limits};
use crate::window::{EventQueue, Slots, Table};
use mgn_fabric::{Config, Connection, Incoming, Transport};
use mgn_render::Renderer;
use mgn_spu::StageContext;
use mgn_sys::passing;
use mgn_viewer::NoViewer;
use mgn_wire::hello::{ServerInfo, Welcome};
use mgn_wire::{Blame, End, Fault, CHUNK, MESSAGE_MAX};
use rustix::net::{getpeername, sockopt, AddressFamily};
use rustix::process::{set_parent_process_death_signal, Signal};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Memory for commands under way: enough for the client to write while the driver works, little
/// enough to stay in the processor's cache.
const COMMAND_BYTES: usize = 16 * CHUNK;
/// Memory for answers under way. Images are longer and come in parts.
const ANSWER_BYTES: usize = 8 * CHUNK;
/// The maximum length of the client's messages on the frames connection, which are short.
const RELEASE_BYTES: usize = 4096;
/// The same where the server shows a tile: the client may send the tile's composited pixels in
/// parts.
const MERGED_BYTES: usize = 64 << 10;
/// Small messages of the frames connection; pictures are longer and get memory of their own.
const HEADERS_BYTES: usize = 64 * 4096;
/// The longest picture: 16k x 16k.
const PICTURE_MAX: usize = 1 << 30;

/// Turns this process into a worker of the server that has started it. The standard input is the
/// socket to the server. Returns when the session has ended.
///
/// # Errors
/// [`ServerError::NoParent`] if no server has started it. The server reports later errors.
pub fn worker() -> Result<(), ServerError> {
    let control = io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(ServerError::io("cannot use the standard input"))?;
    if sockopt::socket_domain(&control).ok() != Some(AddressFamily::UNIX) {
        return Err(ServerError::NoParent);
    }
    let control = Arc::new(UnixStream::from(control));
    let mut inbox = Inbox::new(passing::DESCRIPTORS_MAX);
    let Some(profile) = wait_for_profile(&control, &mut inbox)? else {
        return Ok(());
    };
    let confined = match sandbox::confine(&profile) {
        Ok(confined) => confined,
        Err(why) => {
            notify_server(&control, &FromWorker::Failed(why));
            return Ok(());
        }
    };
    // If the server is killed, the kernel kills the worker. If the server has ended before this
    // call, the closed socket ends the worker. This call comes after the sandbox, because the
    // kernel forgets the signal when a process becomes another user.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(ServerError::io("cannot follow the server"))?;
    // Read before the driver is opened, which removes our variables from the environment.
    let compresses = std::env::var_os("MGN_COMPRESS").is_some();
    let slots = Slots::default();
    let slot = Arc::new(FramesSlot::default());
    let activity = Arc::new(Activity::default());
    let pictures = FramesEnd::new(slot.clone(), activity.clone());
    let mut renderer = match Renderer::new(Box::new(pictures)) {
        Ok(renderer) => renderer,
        Err(error) => {
            notify_server(&control, &FromWorker::Failed(error.to_string()));
            return Ok(());
        }
    };
    let abilities = Box::new(Abilities::of(&renderer));
    notify_server(&control, &FromWorker::Ready(abilities, confined));
    let Some((session, socket)) = wait_for_session(&control, &mut inbox)? else {
        return Ok(());
    };
    let is_software = renderer.info().is_software;
    let is_last = !profile.has_windows || session.window.is_some();
    sandbox::tighten(&profile, is_software, session.memory_limit, is_last)
        .map_err(ServerError::Sandbox)?;
    slots.add(session.id, slot.clone());
    let farewell = {
        let (control, slots, activity) = (control.clone(), slots.clone(), activity.clone());
        // The watchdog and the session may find out about an end at the same time.
        let is_told = Arc::new(AtomicBool::new(false));
        move |cause: &Cause| {
            if !is_told.swap(true, Ordering::Relaxed) {
                tell_drawn(&control, activity.drawn());
                notify_server(&control, &FromWorker::Ended(cause.clone()));
            }
            slots.farewell(&cause.end);
        }
    };
    if let Some(tile) = session.tile {
        renderer.be_tile(tile);
    }
    renderer.seal_binaries(session.binary_key.clone());
    if session.spirv {
        renderer.accept_spirv();
    }
    renderer.limit_storage(watchdog::left_for_storage(session.memory_limit));
    let limits = Limits {
        command: session.watchdog,
        memory: session.memory_limit,
        idle: session.idle_timeout,
    };
    watchdog::watch(activity.clone(), renderer.pulse(), limits, farewell.clone())
        .map_err(ServerError::io("cannot start the watchdog"))?;
    report(control.clone(), activity.clone())?;
    // Without stages there is nothing to be written at the end.
    let ending = (!session.chain.is_empty()).then(Arc::<ShutdownNotice>::default);
    let events = session.window.is_some().then(Arc::<EventQueue>::default);
    let broker = Broker::new(control.clone());
    let screens = Arc::new(OpenScreens::new(broker.clone(), session.window.is_some()));
    let parts = Parts {
        broker,
        slots: slots.clone(),
        events: events.clone(),
    };
    follow_parent(
        control.clone(),
        inbox,
        parts,
        ending.clone(),
        compresses,
        farewell.clone(),
    )?;
    if let Some(events) = events {
        let table = Table::new(
            renderer, &session, events, slots, activity, control, screens,
        )
        .map_err(ServerError::io("cannot start the watchdog of a window"))?;
        table.serve(session, socket, slot, ending.as_deref());
        return Ok(());
    }
    let info = renderer.info();
    match open_session(info, &session, socket, &slot, &activity, &screens) {
        Ok(connection) => {
            if !is_last {
                sandbox::tighten_once_shown(&profile, is_software);
            }
            serve_session(
                renderer, &session, connection, &slot, &activity, ending, farewell,
            );
        }
        Err(mgn_fabric::Error::Closed(_)) => {}
        Err(error) => farewell(&Cause::from(End::from(&gone(&error)))),
    }
    tell_drawn(&control, activity.drawn());
    Ok(())
}

/// The sandbox that the worker shall enter; none if the server ends first.
fn wait_for_profile(
    control: &UnixStream,
    inbox: &mut Inbox,
) -> Result<Option<Profile>, ServerError> {
    match wait_for_message(control, inbox)? {
        Some(ToWorker::Start(profile)) => Ok(Some(profile)),
        Some(_) => Err(out_of_turn()),
        None => Ok(None),
    }
}

/// The session to serve; none if the server ends first.
fn wait_for_session(
    control: &UnixStream,
    inbox: &mut Inbox,
) -> Result<Option<(Box<Session>, OwnedFd)>, ServerError> {
    match wait_for_message(control, inbox)? {
        Some(ToWorker::Session(session)) => {
            let socket = inbox.descriptor().ok_or_else(out_of_turn)?;
            Ok(Some((session, socket)))
        }
        Some(_) => Err(out_of_turn()),
        None => Ok(None),
    }
}

/// The server's next message; none if it ends first.
fn wait_for_message(
    control: &UnixStream,
    inbox: &mut Inbox,
) -> Result<Option<ToWorker>, ServerError> {
    loop {
        match inbox.next().map_err(ServerError::io(NONSENSE))? {
            Some(message) => return Ok(Some(message)),
            None if inbox.fill(control, true).unwrap_or(false) => {}
            None => return Ok(None),
        }
    }
}

const NONSENSE: &str = "the server sent a message that a worker does not expect";

fn out_of_turn() -> ServerError {
    ServerError::io(NONSENSE)(io::Error::from(io::ErrorKind::InvalidData))
}

/// Runs the session, and says why it ended unless its client left.
fn serve_session(
    renderer: Renderer,
    session: &Session,
    connection: Connection,
    slot: &FramesSlot,
    activity: &Arc<Activity>,
    ending: Option<Arc<ShutdownNotice>>,
    farewell: impl FnOnce(&Cause),
) {
    let (sender, mut receiver) = connection.split();
    let answers = Answers::new(
        sender,
        renderer.errors(),
        renderer.speaks(),
        activity.clone(),
    );
    let context = StageContext {
        session: session.id,
    };
    let mut chain = match session.chain.build(&context, Box::new(renderer)) {
        Ok(chain) => chain,
        Err(error) => return farewell(&Cause::from(End::new(Blame::Server, error.to_string()))),
    };
    let ending = ending.as_deref();
    let fault = serve(
        session.tile,
        &mut receiver,
        &mut *chain,
        &answers,
        slot,
        activity,
        ending,
    );
    chain.end();
    // The client is told while the command connection is still open. Otherwise it would find the
    // connection closed before it knows why.
    match fault {
        Fault::Gone => slot.settle(),
        fault => farewell(&Cause::from(End::from(&fault))),
    }
    // The driver's contexts go with the process. Ending them one by one takes time, and a driver in
    // disorder might not survive it.
    std::mem::forget(chain);
}

/// Accepts the command connection.
pub(crate) fn open_session(
    info: &ServerInfo,
    session: &Session,
    socket: OwnedFd,
    slot: &FramesSlot,
    activity: &Arc<Activity>,
    screens: &OpenScreens,
) -> Result<Connection, mgn_fabric::Error> {
    let from = peer(&socket);
    let incoming = Incoming::from_handoff(socket, &session.client)?;
    if let Some(shown) = &session.shown {
        let permission = Permission {
            from,
            allowed: &session.present,
        };
        match screens.of(shown.clone(), &permission, session.id) {
            Ok(screens) => slot.show_on(session.id, screens, activity),
            Err(why) => {
                incoming.refuse(&why);
                return Err(mgn_fabric::Error::Closed(why));
            }
        }
    }
    let welcome = Welcome {
        session: session.id,
        key: session.key,
        binary_key: session.binary_key.id(),
        spirv: session.spirv,
        info: info.clone(),
    };
    let welcome = postcard::to_allocvec(&welcome).expect("a welcome has a serialised form");
    let config = Config {
        message_max: MESSAGE_MAX,
        send_pool_bytes: ANSWER_BYTES,
        recv_pool_bytes: COMMAND_BYTES,
        large_max: MESSAGE_MAX,
        ..Config::default()
    };
    incoming.accept(&welcome, &config)
}

/// The parts of a worker that handle the server's messages.
struct Parts {
    broker: Arc<Broker>,
    slots: Slots,
    /// Set if the session belongs to a window.
    events: Option<Arc<EventQueue>>,
}

/// Handles the server's messages during the session, in a separate thread. Ends the process when
/// the server ends.
fn follow_parent(
    control: Arc<UnixStream>,
    mut inbox: Inbox,
    parts: Parts,
    ending: Option<Arc<ShutdownNotice>>,
    compresses: bool,
    farewell: impl FnOnce(&Cause) + Clone + Send + 'static,
) -> Result<(), ServerError> {
    let Parts {
        broker,
        slots,
        events,
    } = parts;
    let follow = move || loop {
        match inbox.next() {
            Ok(Some(ToWorker::Frames { session, client })) => {
                if let (Some(socket), Some(slot)) = (inbox.descriptor(), slots.get(session)) {
                    open_frames(&slot, socket, &client, compresses);
                }
            }
            Ok(Some(ToWorker::Session(session))) if events.is_some() => {
                if let (Some(socket), Some(events)) = (inbox.descriptor(), &events) {
                    let slot = Arc::new(FramesSlot::default());
                    slots.add(session.id, slot.clone());
                    events.seat(session, socket, slot);
                }
            }
            Ok(Some(ToWorker::Connected {
                session,
                target,
                outcome,
            })) => {
                let outcome = outcome.and_then(|bytes| {
                    let why = NONSENSE.into();
                    let is_final = true;
                    let socket = inbox.descriptor().ok_or(NoViewer { why, is_final })?;
                    Ok((socket, bytes))
                });
                broker.answer(session, target, outcome);
            }
            Ok(Some(ToWorker::End(cause))) => {
                let farewell = farewell.clone();
                watchdog::end_now(|| farewell(&cause))
            }
            Ok(None) if inbox.fill(&*control, true).unwrap_or(false) => {}
            _ => {
                if let Some(ending) = &ending {
                    ending.announce();
                }
                let farewell = farewell.clone();
                watchdog::end_now(|| farewell(&Cause::from(End::from(&Fault::Over))))
            }
        }
    };
    thread::Builder::new()
        .name("control".into())
        .spawn(follow)
        .map_err(ServerError::io("cannot start a thread"))?;
    Ok(())
}

/// Tells the server now and then what the session has done.
fn report(control: Arc<UnixStream>, activity: Arc<Activity>) -> Result<(), ServerError> {
    const REPORT_INTERVAL: Duration = Duration::from_secs(1);
    let tell_all = move || {
        let mut told = (0, 0);
        loop {
            thread::sleep(REPORT_INTERVAL);
            let drawn = activity.drawn();
            if drawn != told {
                told = drawn;
                tell_drawn(&control, drawn);
            }
        }
    };
    thread::Builder::new()
        .name("report".into())
        .spawn(tell_all)
        .map_err(ServerError::io("cannot start a thread"))?;
    Ok(())
}

fn tell_drawn(control: &UnixStream, (frames, bytes): (u64, u64)) {
    notify_server(control, &FromWorker::Drawn { frames, bytes });
}

/// Accepts a frames connection. Pictures are compressed if they go over a network, or if
/// `compresses` is set.
fn open_frames(slot: &FramesSlot, socket: OwnedFd, client: &[u8], compresses: bool) {
    let far = is_far(&socket);
    let opened = Incoming::from_handoff(socket, client).and_then(|incoming| {
        let over_network = far && *incoming.transport() == Transport::Tcp;
        let compressed = over_network || compresses;
        let said_max = match slot.is_shown() {
            true => MERGED_BYTES,
            false => RELEASE_BYTES,
        };
        let config = Config {
            message_max: said_max,
            send_pool_bytes: HEADERS_BYTES,
            recv_pool_bytes: 4 * said_max,
            large_max: PICTURE_MAX,
            ..Config::default()
        };
        Ok((incoming.accept(&[], &config)?, compressed))
    });
    match opened {
        Ok((connection, compressed)) => {
            let (sender, receiver) = connection.split();
            match slot.open(sender, compressed) {
                Ok(()) => slot.follow(receiver),
                Err(why) => tracing::warn!("{why}"),
            }
        }
        Err(error) => tracing::debug!("a frames connection failed: {error}"),
    }
}

/// Whether the client is on another host, so that it is worth compressing pictures.
fn is_far(socket: &OwnedFd) -> bool {
    peer(socket).is_some_and(|ip| !ip.is_loopback())
}

/// The client's address; none for the server's user on this host. It is unspecified if the client
/// has already gone.
fn peer(socket: &OwnedFd) -> Option<IpAddr> {
    if sockopt::socket_domain(socket) == Ok(AddressFamily::UNIX) {
        return None;
    }
    let address = getpeername(socket).ok().flatten();
    Some(ip_of(
        address.and_then(|address| SocketAddr::try_from(address).ok()),
    ))
}

/// The IP address of a client over TCP; unspecified if it is unknown.
pub(crate) fn ip_of(address: Option<SocketAddr>) -> IpAddr {
    address.map_or(Ipv4Addr::UNSPECIFIED.into(), |a| a.ip().to_canonical())
}
