//! The kinds of groups, by how pictures come together.

use std::time::Duration;

use mgn_composite::Group;
use mgn_fabric::job::Member;

/// How members reach each other's pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    Memory,
    Messages,
    /// This many ranks share memory, in order of rank; the next ones behave as on another host.
    Hosts(usize),
}

impl GroupKind {
    pub fn group(self, member: &Member, number: u16, patience: Duration) -> Group<'_> {
        let group = match self {
            GroupKind::Memory => Group::new(member, number, patience),
            GroupKind::Messages => {
                Group::on_simulated_host(member, number, patience, member.rank())
            }
            GroupKind::Hosts(ranks) => {
                let host = member.rank() / ranks as u32;
                Group::on_simulated_host(member, number, patience, host)
            }
        };
        let group = group.unwrap();
        let hosts = match self {
            GroupKind::Memory => 1,
            GroupKind::Messages => group.size(),
            GroupKind::Hosts(ranks) => group.size().div_ceil(ranks),
        };
        assert_eq!(group.hosts(), hosts);
        group
    }
}
