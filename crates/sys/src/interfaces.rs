//! The network interfaces of this machine.

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address of a network interface that is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub name: String,
    pub address: IpAddr,
}

/// The addresses of all interfaces that are up, in the system's order.
pub fn interfaces() -> io::Result<Vec<Interface>> {
    let mut first = std::ptr::null_mut();
    // SAFETY: the call writes the start of the list to `first`.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut next = first;
    // SAFETY: an entry of the list, which lives until it is freed below, or null at its end.
    while let Some(entry) = unsafe { next.as_ref() } {
        next = entry.ifa_next;
        if entry.ifa_flags & libc::IFF_UP as libc::c_uint == 0 {
            continue;
        }
        let Some(address) = address(entry.ifa_addr) else {
            continue;
        };
        // SAFETY: every entry's name is a string that lives as long as the list.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) };
        found.push(Interface {
            name: name.to_string_lossy().into_owned(),
            address,
        });
    }
    // SAFETY: the list was made above, and nothing refers to it any longer.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

fn address(place: *const libc::sockaddr) -> Option<IpAddr> {
    if place.is_null() {
        return None;
    }
    // SAFETY: it is not null, and every socket address begins with its family.
    match i32::from(unsafe { (*place).sa_family }) {
        libc::AF_INET => {
            // SAFETY: its family says that it is an IPv4 address.
            let place = unsafe { place.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(u32::from_be(place.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: its family says that it is an IPv6 address.
            let place = unsafe { place.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(place.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_there() {
        let found = interfaces().unwrap();
        let loopback = found.iter().find(|one| one.address.is_loopback());
        assert_eq!(loopback.expect("it is up").name, "lo");
    }
}
