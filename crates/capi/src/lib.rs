//! `libmanganese`: the messages of `mgn-fabric` for C programs. `manganese.h` says what each function does; here is how it gets there.
//!
//! Handles are numbers, looked up where they are used, so that a wrong one is an error. No panic leaves a function.

mod arguments;
mod fault;
mod library;

use std::ffi::{c_char, c_int, c_void, CStr};
use std::time::Duration;

use libc::iovec;
use mgn_fabric::endpoint::{Ended, How, LinkId, Request, Status};
use mgn_fabric::job::Job;

use arguments::{
    copy_text, handle, input, link, optional_text, out, patience, pieces, set, text, wanted,
};
use fault::{call, Fault};
use library::Library;

/// The header's `mgn_status`.
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct mgn_status {
    conn: u64,
    tag: u64,
    length: u64,
}

/// The header's `mgn_handler`.
#[allow(non_camel_case_types)]
pub type mgn_handler = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        from: u64,
        tag: u64,
        data: *const c_void,
        length: usize,
    ),
>;

const SYNC: c_int = 1;
const UNORDERED: c_int = 2;

/// How long to open a connection when nobody said an end: what no program outlives.
const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

#[no_mangle]
pub extern "C" fn mgn_init() -> c_int {
    call(|| Library::begin(Job::find).map(|()| 0))
}

/// # Safety
/// `job` is a string, and `hosts` null or as many strings as `size` says.
#[no_mangle]
pub unsafe extern "C" fn mgn_init_as(
    job: *const c_char,
    rank: u32,
    size: u32,
    hosts: *const *const c_char,
) -> c_int {
    call(|| {
        // SAFETY: as the caller promises.
        let job = unsafe { text(job, "job") }?;
        let host = |at: usize| {
            // SAFETY: so many pointers are there, and each is one to a string, as the caller promises.
            unsafe { text(hosts.add(at).read_unaligned(), "a host") }.map(String::from)
        };
        let names = match hosts.is_null() {
            true => vec!["localhost".to_string(); size.min(1 << 21) as usize],
            false => (0..size as usize).map(host).collect::<Result<_, _>>()?,
        };
        Library::begin(|| Job::new(job, rank, names)?.configured()).map(|()| 0)
    })
}

#[no_mangle]
pub extern "C" fn mgn_finalize() -> c_int {
    call(|| Library::end().map(|()| 0))
}

#[no_mangle]
pub extern "C" fn mgn_rank() -> c_int {
    call(|| Ok(Library::current()?.member.rank() as c_int))
}

#[no_mangle]
pub extern "C" fn mgn_size() -> c_int {
    call(|| Ok(Library::current()?.member.size() as c_int))
}

/// # Safety
/// `name` has room for `room` bytes.
#[no_mangle]
pub unsafe extern "C" fn mgn_host(rank: u32, name: *mut c_char, room: usize) -> c_int {
    call(|| {
        let host = Library::current()?.member.host(rank)?;
        // SAFETY: as the caller promises.
        unsafe { copy_text(&host, name, room) }
    })
}

/// # Safety
/// `names` has room for `room` bytes.
#[no_mangle]
pub unsafe extern "C" fn mgn_interfaces(names: *mut c_char, room: usize) -> c_int {
    call(|| {
        let all = Library::current()?.member.interfaces();
        let all: Vec<String> = all
            .iter()
            .map(|one| format!("{} {}", one.name, one.address))
            .collect();
        // SAFETY: as the caller promises.
        unsafe { copy_text(&all.join(", "), names, room) }
    })
}

/// # Safety
/// `host` is null or a string, `conn` a place for a number.
#[no_mangle]
pub unsafe extern "C" fn mgn_open(
    host: *const c_char,
    rank: u32,
    timeout: c_int,
    conn: *mut u64,
) -> c_int {
    call(|| {
        let member = &Library::current()?.member;
        // SAFETY: as the caller promises.
        let (host, conn) = unsafe { (optional_text(host, "host")?, out(conn, "conn")?) };
        if let Some(wanted) = host {
            let found = member.host(rank)?;
            if wanted != found {
                return Err(Fault::argument(format!(
                    "rank {rank} is on {found}, not on {wanted}"
                )));
            }
        }
        let link = member.open(rank, patience(timeout).unwrap_or(FOREVER))?;
        *conn = link.to_bits();
        Ok(0)
    })
}

#[no_mangle]
pub extern "C" fn mgn_rank_of(conn: u64) -> c_int {
    call(|| {
        let rank = Library::current()?.member.rank_of(link(conn)?);
        rank.map(|rank| rank as c_int)
            .ok_or_else(|| handle("connection", conn))
    })
}

#[no_mangle]
pub extern "C" fn mgn_close(conn: u64) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        let link = link(conn)?;
        if !endpoint.is_open(link) {
            return Err(handle("connection", conn));
        }
        endpoint.close(link);
        Ok(0)
    })
}

/// # Safety
/// `data` are `length` bytes.
#[no_mangle]
pub unsafe extern "C" fn mgn_send(conn: u64, data: *const c_void, length: usize) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        let piece = input(data, length)?;
        let how = How {
            sync: true,
            unordered: false,
        };
        // SAFETY: the caller's memory stays until this returns, and this waits for the end.
        let request = unsafe { endpoint.isend(link(conn)?, 0, &[piece], how) }?;
        if let Some(request) = request {
            endpoint.wait(request, None)?;
        }
        Ok(0)
    })
}

#[no_mangle]
pub extern "C" fn mgn_poll(conn: u64, timeout: c_int) -> c_int {
    call(|| {
        let found = Library::current()?
            .endpoint()
            .peek(&wanted(conn, 0, 0), patience(timeout))?;
        Ok(found.is_some().into())
    })
}

/// # Safety
/// `status` is a place for one.
#[no_mangle]
pub unsafe extern "C" fn mgn_peek(conn: u64, status: *mut mgn_status) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { mgn_probe(conn, 0, 0, -1, status) }
}

/// # Safety
/// `data` has room for `room` bytes, `status` is null or a place for one.
#[no_mangle]
pub unsafe extern "C" fn mgn_recv(
    conn: u64,
    data: *mut c_void,
    room: usize,
    status: *mut mgn_status,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        let piece = input(data, room)?;
        // SAFETY: the caller's memory stays until this returns, and this waits for the end.
        let request = unsafe { endpoint.irecv(wanted(conn, 0, 0), &[piece]) };
        let ended = endpoint.wait(request, None)?;
        // SAFETY: as the caller promises.
        unsafe { set(status, ended.map(mgn_status::from)) };
        Ok(0)
    })
}

/// # Safety
/// `pieces` are `count`, whose memory stays unchanged until the request has ended; `request` is a place for one.
#[no_mangle]
pub unsafe extern "C" fn mgn_isend(
    conn: u64,
    tag: u64,
    pieces: *const iovec,
    count: usize,
    flags: c_int,
    request: *mut u64,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        // SAFETY: as the caller promises.
        unsafe {
            let (pieces, request) = (self::pieces(pieces, count)?, out(request, "request")?);
            *request = bits(endpoint.isend(link(conn)?, tag, &pieces, how(flags)?)?);
        }
        Ok(0)
    })
}

/// # Safety
/// `pieces` are `count`, whose memory stays until the request has ended; `request` is a place for one.
#[no_mangle]
pub unsafe extern "C" fn mgn_irecv(
    conn: u64,
    tag: u64,
    ignore: u64,
    pieces: *const iovec,
    count: usize,
    request: *mut u64,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        // SAFETY: as the caller promises.
        unsafe {
            let (pieces, request) = (self::pieces(pieces, count)?, out(request, "request")?);
            *request = endpoint.irecv(wanted(conn, tag, ignore), &pieces).to_bits();
        }
        Ok(0)
    })
}

/// # Safety
/// `request` is the place of one, `status` null or a place for one.
#[no_mangle]
pub unsafe extern "C" fn mgn_test(request: *mut u64, status: *mut mgn_status) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe { finish(request, 0, status) }.map(c_int::from))
}

/// # Safety
/// As for `mgn_test`.
#[no_mangle]
pub unsafe extern "C" fn mgn_wait(
    request: *mut u64,
    timeout: c_int,
    status: *mut mgn_status,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| match unsafe { finish(request, timeout, status) }? {
        true => Ok(0),
        false => Err(Fault::timeout("waiting for a request")),
    })
}

/// True when the request has ended.
///
/// # Safety
/// As for `mgn_test`.
unsafe fn finish(
    request: *mut u64,
    timeout: c_int,
    status: *mut mgn_status,
) -> Result<bool, Fault> {
    let endpoint = Library::current()?.endpoint();
    // SAFETY: as the caller promises.
    let request = unsafe { out(request, "request") }?;
    if *request == 0 {
        return Ok(true);
    }
    let ended = match endpoint.wait(Request::from_bits(*request), patience(timeout)) {
        Ok(None) => return Ok(false),
        ended => ended,
    };
    // However it ended, it is gone.
    *request = 0;
    // SAFETY: as the caller promises.
    unsafe { set(status, ended?.map(mgn_status::from)) };
    Ok(true)
}

/// # Safety
/// `requests` are `count`, `index` is a place for a number, `status` null or a place for one.
#[no_mangle]
pub unsafe extern "C" fn mgn_waitany(
    requests: *mut u64,
    count: usize,
    timeout: c_int,
    index: *mut usize,
    status: *mut mgn_status,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        if count > 0 && (requests.is_null() || !requests.is_aligned()) {
            return Err(Fault::argument("requests is null or not aligned"));
        }
        // SAFETY: as the caller promises.
        let index = unsafe { out(index, "index") }?;
        let requests = match count.min(isize::MAX as usize / size_of::<u64>()) {
            0 => &mut [][..],
            // SAFETY: so many are there, as the caller promises, and they are aligned.
            count => unsafe { std::slice::from_raw_parts_mut(requests, count) },
        };
        let places: Vec<usize> = (0..requests.len())
            .filter(|at| requests[*at] != 0)
            .collect();
        *index = count;
        if places.is_empty() {
            return Ok(0);
        }
        let running: Vec<Request> = places
            .iter()
            .map(|at| Request::from_bits(requests[*at]))
            .collect();
        let Some(Ended { at, result: ended }) = endpoint.wait_any(&running, patience(timeout))?
        else {
            return Err(Fault::timeout("waiting for one of several requests"));
        };
        *index = places[at];
        requests[places[at]] = 0;
        // SAFETY: as the caller promises.
        unsafe { set(status, Some(ended?.into())) };
        Ok(0)
    })
}

#[no_mangle]
pub extern "C" fn mgn_cancel(request: u64) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        match request {
            0 => Ok(0),
            _ => Ok(endpoint.cancel(Request::from_bits(request))?.into()),
        }
    })
}

/// # Safety
/// `status` is a place for one.
#[no_mangle]
pub unsafe extern "C" fn mgn_probe(
    conn: u64,
    tag: u64,
    ignore: u64,
    timeout: c_int,
    status: *mut mgn_status,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        // SAFETY: as the caller promises.
        let status = unsafe { out(status, "status") }?;
        let found = endpoint.peek(&wanted(conn, tag, ignore), patience(timeout))?;
        *status = found
            .ok_or_else(|| Fault::timeout("waiting for a message"))?
            .into();
        Ok(0)
    })
}

/// # Safety
/// `data` and `message` are places for what they are, `status` null or a place for one.
#[no_mangle]
pub unsafe extern "C" fn mgn_take(
    conn: u64,
    tag: u64,
    ignore: u64,
    timeout: c_int,
    data: *mut *const c_void,
    status: *mut mgn_status,
    message: *mut u64,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let (data, message) = unsafe { (out(data, "data")?, out(message, "message")?) };
        let found = library
            .endpoint()
            .take(&wanted(conn, tag, ignore), patience(timeout))?;
        let received = found.ok_or_else(|| Fault::timeout("waiting for a message"))?;
        // SAFETY: as the caller promises.
        unsafe { set(status, Some(received.status.into())) };
        let (number, start) = library.keep(received);
        (*message, *data) = (number, start.cast());
        Ok(0)
    })
}

#[no_mangle]
pub extern "C" fn mgn_release(message: u64) -> c_int {
    call(|| Library::current()?.release(message).map(|()| 0))
}

/// # Safety
/// `data` and `reservation` are places for what they are.
#[no_mangle]
pub unsafe extern "C" fn mgn_reserve(
    conn: u64,
    length: usize,
    data: *mut *mut c_void,
    reservation: *mut u64,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let (data, reservation) = unsafe { (out(data, "data")?, out(reservation, "reservation")?) };
        let reserved = library.endpoint().reserve(link(conn)?, length)?;
        let (number, start) = library.keep_reserved(reserved);
        (*reservation, *data) = (number, start.cast());
        Ok(0)
    })
}

/// # Safety
/// `request` is null or a place for one.
#[no_mangle]
pub unsafe extern "C" fn mgn_commit(
    reservation: u64,
    length: usize,
    tag: u64,
    flags: c_int,
    request: *mut u64,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        let how = how(flags)?;
        let reserved = library.unreserve(reservation, length)?;
        let begun = reserved.commit(length, tag, how)?;
        match (request.is_null(), begun) {
            (true, Some(begun)) => library.endpoint().detach(begun)?,
            // SAFETY: as the caller promises.
            (_, begun) => unsafe { set(request, Some(bits(begun))) },
        }
        Ok(0)
    })
}

#[no_mangle]
pub extern "C" fn mgn_discard(reservation: u64) -> c_int {
    call(|| {
        let unused = Library::current()?.unreserve(reservation, 0)?;
        drop(unused);
        Ok(0)
    })
}

/// What is handed to a handler of the program's with each message.
struct Context(*mut c_void);

// SAFETY: the pointer is only handed back to the program, which knows that any thread may call.
unsafe impl Send for Context {}

/// # Safety
/// `handler` may be called with `context` from any thread until the process ends or another one is set.
#[no_mangle]
pub unsafe extern "C" fn mgn_set_handler(
    number: u16,
    handler: mgn_handler,
    context: *mut c_void,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        let handler = handler.ok_or_else(|| Fault::argument("handler is null"))?;
        let context = Context(context);
        endpoint.set_handler(number, move |active| {
            let Context(context) = &context;
            // SAFETY: as the caller promises; the bytes are there during the call.
            unsafe {
                handler(
                    *context,
                    active.from.to_bits(),
                    active.tag,
                    active.as_ptr().cast(),
                    active.len(),
                )
            }
        });
        Ok(0)
    })
}

/// # Safety
/// As for `mgn_isend`.
#[no_mangle]
pub unsafe extern "C" fn mgn_isend_active(
    conn: u64,
    number: u16,
    tag: u64,
    pieces: *const iovec,
    count: usize,
    flags: c_int,
    request: *mut u64,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        // SAFETY: as the caller promises.
        unsafe {
            let (pieces, request) = (self::pieces(pieces, count)?, out(request, "request")?);
            *request =
                bits(endpoint.isend_active(link(conn)?, number, tag, &pieces, how(flags)?)?);
        }
        Ok(0)
    })
}

#[no_mangle]
pub extern "C" fn mgn_strerror(error: c_int) -> *const c_char {
    CStr::as_ptr(fault::meaning(error))
}

#[no_mangle]
pub extern "C" fn mgn_last_error() -> *const c_char {
    fault::last()
}

/// A request's number; 0 where the operation has ended already.
fn bits(request: Option<Request>) -> u64 {
    request.map_or(0, Request::to_bits)
}

fn how(flags: c_int) -> Result<How, Fault> {
    if flags & !(SYNC | UNORDERED) != 0 {
        return Err(Fault::argument(format!("flags {flags:#x} are not known")));
    }
    Ok(How {
        sync: flags & SYNC != 0,
        unordered: flags & UNORDERED != 0,
    })
}

impl From<Status> for mgn_status {
    fn from(status: Status) -> mgn_status {
        mgn_status {
            conn: LinkId::to_bits(status.link),
            tag: status.tag,
            length: status.len as u64,
        }
    }
}
