//! The order of several programs that draw into one window: the programs that are there, and the
//! barriers and semaphores of GL_CR_synchronization that they share. No I/O, and no clock.
//!
//! A program waits at one place at most, because its stream is not read while it waits. A semaphore
//! serves waiting programs in the order of their arrival. If a wait can never end because another
//! program has died, the waiting program *fails*, and the code that executes its stream learns
//! this.

use mgn_wire::gl::{GL_INVALID_OPERATION, GL_INVALID_VALUE, GL_OUT_OF_MEMORY};
use std::collections::BTreeMap;
use std::fmt;

/// The most barriers of a window, and the most semaphores. Clients choose their names.
const MOST_NAMES: usize = 4096;

/// Programs of one window, by their numbers.
#[derive(Debug, Default)]
pub struct Peers {
    seats: BTreeMap<u32, Seat>,
    /// The number of programs that will take part, if it is known.
    clients: Option<u32>,
    /// How many programs have joined so far.
    came: u32,
    /// How many of these have left again.
    left: u32,
    /// The first program that died. After it, no program can wait any more.
    dead: Option<String>,
    barriers: BTreeMap<u32, Barrier>,
    semaphores: BTreeMap<u32, Semaphore>,
    /// The program that compiles a display list.
    compiling: Option<u32>,
}

#[derive(Debug)]
struct Seat {
    /// The name of the program for people.
    name: String,
    waits: Option<Wait>,
    /// Whether the program has announced that it ends.
    takes_leave: bool,
    /// Why the program cannot go on.
    failure: Option<String>,
}

/// What a program waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    Barrier(u32),
    Semaphore(u32),
}

#[derive(Debug)]
struct Barrier {
    count: u32,
    arrived: Vec<u32>,
}

#[derive(Debug)]
struct Semaphore {
    initial: u32,
    value: u32,
    /// Tickets count from 1. The last ticket that was given out, and the last one whose turn has
    /// come.
    given_out: u64,
    passed: u64,
    /// The programs that wait, by ticket.
    waiting: BTreeMap<u64, u32>,
}

impl Semaphore {
    /// Decrements the semaphore for this ticket, if its value is not 0 and it is the ticket's turn.
    /// Among tickets that were given out here, the lowest waiting one is next.
    fn pass(&mut self, ticket: u64) -> bool {
        let is_next = ticket <= self.given_out || self.passed.checked_add(1) == Some(ticket);
        if self.value == 0 || !is_next {
            return false;
        }
        (self.value, self.passed) = (self.value - 1, ticket);
        true
    }

    /// Passes the first waiting program, if its turn has come, and returns it.
    fn pass_waiting(&mut self) -> Option<u32> {
        let ticket = *self.waiting.first_key_value()?.0;
        if !self.pass(ticket) {
            return None;
        }
        self.waiting.remove(&ticket)
    }
}

/// Why a command was not executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It raises an OpenGL error and has no other effect.
    Error(u32),
    /// The program cannot go on.
    Fails(String),
    /// The program is waiting and should not have sent another command.
    Waits,
}

impl Peers {
    /// `clients` is the number of programs that will take part, if it is known.
    pub fn new(clients: Option<u32>) -> Peers {
        Peers {
            clients,
            ..Peers::default()
        }
    }

    /// A program joins. Seat numbers are never reused.
    pub fn join(&mut self, seat: u32, name: impl Into<String>) {
        self.came += 1;
        let seat_of = Seat {
            name: name.into(),
            waits: None,
            takes_leave: false,
            failure: None,
        };
        self.seats.insert(seat, seat_of);
    }

    /// A program says that it is about to end.
    pub fn take_leave(&mut self, seat: u32) {
        if let Some(seat) = self.seats.get_mut(&seat) {
            seat.takes_leave = true;
        }
    }

    /// A program has ended. It counts as dead if it did not announce its end, or if it ends while
    /// it waits.
    pub fn leave(&mut self, seat: u32) {
        let Some(gone) = self.seats.remove(&seat) else {
            return;
        };
        let died = !gone.takes_leave || gone.waits.is_some();
        self.left += 1;
        self.set_compiling(seat, false);
        for barrier in self.barriers.values_mut() {
            barrier.arrived.retain(|other| *other != seat);
        }
        for semaphore in self.semaphores.values_mut() {
            semaphore.waiting.retain(|_, other| *other != seat);
        }
        if died {
            let place = gone.waits.map(|wait| format!(" at {wait}"));
            let place = place.unwrap_or_default();
            let why = format!("{} has died{place}", gone.name);
            self.fail(&why, |_| true);
            self.dead.get_or_insert(why);
        }
        self.fail_short();
    }

    /// Makes programs fail that wait at barriers for which too few programs are left.
    fn fail_short(&mut self) {
        let Some(most) = self.most() else { return };
        let short: Vec<(u32, u32)> = self
            .barriers
            .iter()
            .filter(|(_, barrier)| barrier.count > most)
            .map(|(name, barrier)| (*name, barrier.count))
            .collect();
        for (name, count) in short {
            let why = too_few(name, count, most);
            self.fail(&why, |wait| wait == Wait::Barrier(name));
        }
    }

    /// How many programs can exist at once from now on, if that is known.
    fn most(&self) -> Option<u32> {
        let clients = self.clients?.max(self.came);
        Some(clients - self.left)
    }

    /// Makes the programs fail whose wait matches `which`.
    fn fail(&mut self, why: &str, which: impl Fn(Wait) -> bool) {
        for seat in self.seats.values_mut() {
            if seat.failure.is_none() && seat.waits.is_some_and(&which) {
                seat.failure = Some(why.into());
            }
        }
    }

    /// All waiting programs fail, because no program can end their waits.
    pub fn give_up(&mut self, why: &str) {
        self.fail(why, |_| true);
    }

    /// Why the program cannot go on.
    pub fn failure(&self, seat: u32) -> Option<&str> {
        self.seats.get(&seat)?.failure.as_deref()
    }

    /// Notes whether a program is compiling a display list. While it is, no other program may be
    /// executed: releases of Mesa have crashed when another context became current in a list.
    pub fn set_compiling(&mut self, seat: u32, compiles: bool) {
        if compiles && self.seats.contains_key(&seat) {
            self.compiling = Some(seat);
        } else if self.compiling == Some(seat) {
            self.compiling = None;
        }
    }

    /// The program that is compiling a display list, if any.
    pub fn compiling(&self) -> Option<u32> {
        self.compiling
    }

    /// Whether a program's commands may be executed now.
    pub fn may_run(&self, seat: u32) -> bool {
        self.waits(seat).is_none() && self.compiling.is_none_or(|other| other == seat)
    }

    pub fn waits(&self, seat: u32) -> Option<Wait> {
        self.seats.get(&seat)?.waits
    }

    /// Whether there are programs and all of them wait.
    pub fn all_wait(&self) -> bool {
        !self.seats.is_empty() && self.seats.values().all(|seat| seat.waits.is_some())
    }

    /// How many programs are present.
    pub fn len(&self) -> usize {
        self.seats.len()
    }

    pub fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// How many programs have joined so far, and how many are expected.
    pub fn came(&self) -> (u32, Option<u32>) {
        (self.came, self.clients)
    }

    /// Whether another program may still join.
    pub fn is_awaited(&self) -> bool {
        self.clients.is_none_or(|clients| self.came < clients)
    }

    /// What each program is doing, for people.
    pub fn describe(&self) -> String {
        let place = |seat: &Seat| match seat.waits {
            Some(wait) => format!("{} waits at {wait}", seat.name),
            None => format!("{} runs", seat.name),
        };
        let places: Vec<String> = self.seats.values().map(place).collect();
        places.join(", ")
    }

    /// Creates a barrier for `count` programs. Several programs may create the same barrier.
    pub fn create_barrier(&mut self, name: u32, count: u32) -> Result<(), Refusal> {
        if count == 0 {
            return Err(Refusal::Error(GL_INVALID_VALUE));
        }
        match self.barriers.get(&name) {
            Some(barrier) if barrier.count == count => Ok(()),
            Some(_) => Err(Refusal::Error(GL_INVALID_OPERATION)),
            None if self.barriers.len() >= MOST_NAMES => Err(Refusal::Error(GL_OUT_OF_MEMORY)),
            None => {
                let arrived = Vec::new();
                self.barriers.insert(name, Barrier { count, arrived });
                Ok(())
            }
        }
    }

    pub fn destroy_barrier(&mut self, name: u32) -> Result<(), Refusal> {
        match self.barriers.get(&name) {
            Some(barrier) if barrier.arrived.is_empty() => {
                self.barriers.remove(&name);
                Ok(())
            }
            _ => Err(Refusal::Error(GL_INVALID_OPERATION)),
        }
    }

    /// A program arrives at a barrier. It waits, unless it is the last one.
    pub fn exec_barrier(&mut self, seat: u32, name: u32) -> Result<(), Refusal> {
        self.is_free(seat)?;
        let most = self.most();
        let barrier = self
            .barriers
            .get_mut(&name)
            .ok_or(Refusal::Error(GL_INVALID_OPERATION))?;
        let count = barrier.count;
        if barrier.arrived.len() + 1 >= count as usize {
            for other in std::mem::take(&mut barrier.arrived) {
                self.release(other);
            }
            return Ok(());
        }
        if let Some(dead) = &self.dead {
            return Err(Refusal::Fails(dead.clone()));
        }
        if let Some(most) = most.filter(|most| count > *most) {
            return Err(Refusal::Fails(too_few(name, count, most)));
        }
        if self.compiling == Some(seat) {
            return Err(waits_in_list(Wait::Barrier(name)));
        }
        barrier.arrived.push(seat);
        self.wait(seat, Wait::Barrier(name));
        Ok(())
    }

    /// Creates a semaphore. Several programs may create the same semaphore.
    pub fn create_semaphore(&mut self, name: u32, initial: u32) -> Result<(), Refusal> {
        match self.semaphores.get(&name) {
            Some(semaphore) if semaphore.initial == initial => Ok(()),
            Some(_) => Err(Refusal::Error(GL_INVALID_OPERATION)),
            None if self.semaphores.len() >= MOST_NAMES => Err(Refusal::Error(GL_OUT_OF_MEMORY)),
            None => {
                let semaphore = Semaphore {
                    initial,
                    value: initial,
                    given_out: 0,
                    passed: 0,
                    waiting: BTreeMap::new(),
                };
                self.semaphores.insert(name, semaphore);
                Ok(())
            }
        }
    }

    pub fn destroy_semaphore(&mut self, name: u32) -> Result<(), Refusal> {
        match self.semaphores.get(&name) {
            Some(semaphore) if semaphore.waiting.is_empty() => {
                self.semaphores.remove(&name);
                Ok(())
            }
            _ => Err(Refusal::Error(GL_INVALID_OPERATION)),
        }
    }

    /// A program decrements a semaphore and gets a ticket. If the value is 0, the program waits.
    pub fn take(&mut self, seat: u32, name: u32) -> Result<u64, Refusal> {
        self.is_free(seat)?;
        let semaphore = self.semaphore(name)?;
        semaphore.given_out += 1;
        let ticket = semaphore.given_out;
        self.wait_for_turn(seat, name, ticket)?;
        Ok(ticket)
    }

    /// The same with a ticket that another renderer has given out, which decides on the order. The
    /// program waits if it is not the ticket's turn.
    pub fn pass(&mut self, seat: u32, name: u32, ticket: u64) -> Result<(), Refusal> {
        self.is_free(seat)?;
        // The semaphore existed where the ticket was given out.
        let semaphore = self.semaphores.get(&name).ok_or_else(|| {
            Refusal::Fails(format!(
                "semaphore {name} is used before the program that creates it has done so; each \
                 program has to create it, or to wait at a barrier until it is there"
            ))
        })?;
        if ticket <= semaphore.passed || semaphore.waiting.contains_key(&ticket) {
            let why = format!("ticket {ticket} of semaphore {name} has been used before");
            return Err(Refusal::Fails(why));
        }
        self.wait_for_turn(seat, name, ticket)
    }

    fn wait_for_turn(&mut self, seat: u32, name: u32, ticket: u64) -> Result<(), Refusal> {
        if self.semaphore(name)?.pass(ticket) {
            self.pass_waiting(name);
            return Ok(());
        }
        if let Some(dead) = &self.dead {
            return Err(Refusal::Fails(dead.clone()));
        }
        if self.compiling == Some(seat) {
            return Err(waits_in_list(Wait::Semaphore(name)));
        }
        self.semaphore(name)?.waiting.insert(ticket, seat);
        self.wait(seat, Wait::Semaphore(name));
        Ok(())
    }

    /// Increments a semaphore. This releases the program whose turn is next.
    pub fn give(&mut self, name: u32) -> Result<(), Refusal> {
        let semaphore = self.semaphore(name)?;
        let more = semaphore.value.checked_add(1);
        semaphore.value = more.ok_or(Refusal::Error(GL_INVALID_OPERATION))?;
        self.pass_waiting(name);
        Ok(())
    }

    /// Releases the programs whose turn has come.
    fn pass_waiting(&mut self, name: u32) {
        while let Some(next) = self
            .semaphores
            .get_mut(&name)
            .and_then(Semaphore::pass_waiting)
        {
            self.release(next);
        }
    }

    fn semaphore(&mut self, name: u32) -> Result<&mut Semaphore, Refusal> {
        let there = self.semaphores.get_mut(&name);
        there.ok_or(Refusal::Error(GL_INVALID_OPERATION))
    }

    /// Refuses commands of a waiting program: a message ends with the command that waits.
    fn is_free(&self, seat: u32) -> Result<(), Refusal> {
        match self.waits(seat) {
            Some(_) => Err(Refusal::Waits),
            None => Ok(()),
        }
    }

    fn wait(&mut self, seat: u32, wait: Wait) {
        if let Some(seat) = self.seats.get_mut(&seat) {
            seat.waits = Some(wait);
        }
    }

    fn release(&mut self, seat: u32) {
        if let Some(seat) = self.seats.get_mut(&seat) {
            seat.waits = None;
            seat.failure = None;
        }
    }
}

fn too_few(name: u32, count: u32, most: u32) -> String {
    format!("barrier {name} is for {count} programs, and no more than {most} are left")
}

fn waits_in_list(wait: Wait) -> Refusal {
    Refusal::Fails(format!(
        "it waits at {wait} for others, which cannot go on while it compiles a display list"
    ))
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::Barrier(name) => write!(f, "barrier {name}"),
            Wait::Semaphore(name) => write!(f, "semaphore {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(count: u32) -> Peers {
        let mut peers = Peers::new(Some(count));
        (0..count).for_each(|seat| peers.join(seat, format!("program {seat}")));
        peers
    }

    fn error(code: u32) -> Result<(), Refusal> {
        Err(Refusal::Error(code))
    }

    #[test]
    fn the_last_one_at_a_barrier_frees_all() {
        let mut peers = peers(3);
        peers.create_barrier(7, 3).unwrap();
        for _ in 0..2 {
            peers.exec_barrier(2, 7).unwrap();
            peers.exec_barrier(0, 7).unwrap();
            assert_eq!(peers.waits(0), Some(Wait::Barrier(7)));
            assert_eq!(peers.waits(1), None);
            assert!(!peers.all_wait());
            peers.exec_barrier(1, 7).unwrap();
            assert!((0..3).all(|seat| peers.waits(seat).is_none()));
        }
    }

    #[test]
    fn while_a_list_is_compiled_no_other_program_runs() {
        let mut peers = peers(3);
        peers.create_barrier(1, 2).unwrap();
        peers.create_semaphore(1, 1).unwrap();
        peers.set_compiling(1, true);
        peers.set_compiling(2, false);
        assert_eq!(peers.compiling(), Some(1));
        assert_eq!(
            [0, 1, 2].map(|seat| peers.may_run(seat)),
            [false, true, false]
        );
        // Operations that need not wait are done.
        peers.take(1, 1).unwrap();
        for waits in [peers.take(1, 1).map(drop), peers.exec_barrier(1, 1)] {
            assert!(matches!(waits, Err(Refusal::Fails(why)) if why.contains("display list")));
        }
        assert!(peers.waits(1).is_none());
        peers.set_compiling(1, false);
        assert!((0..3).all(|seat| peers.may_run(seat)));
        peers.set_compiling(0, true);
        peers.leave(0);
        peers.set_compiling(0, true);
        assert!(peers.may_run(1) && peers.may_run(2));
    }

    #[test]
    fn a_semaphore_goes_to_who_has_waited_longest() {
        let mut peers = peers(3);
        peers.create_semaphore(1, 1).unwrap();
        for seat in 0..3 {
            peers.take(seat, 1).unwrap();
        }
        assert_eq!(peers.waits(0), None);
        peers.give(1).unwrap();
        assert_eq!((peers.waits(1), peers.waits(2).is_some()), (None, true));
        peers.give(1).unwrap();
        assert_eq!(peers.waits(2), None);
        peers.give(1).unwrap();
        peers.take(0, 1).unwrap();
        assert_eq!(peers.waits(0), None);
    }

    #[test]
    fn where_the_order_is_decided_elsewhere_turns_follow_it() {
        let (mut first, mut other) = (peers(3), peers(3));
        for peers in [&mut first, &mut other] {
            peers.create_semaphore(1, 0).unwrap();
        }
        let tickets = [2, 0, 1].map(|seat| first.take(seat, 1).unwrap());
        assert_eq!(tickets, [1, 2, 3]);
        // The programs arrive there in another order, and so does what they wait for.
        other.give(1).unwrap();
        for (seat, ticket) in [(1, 3), (0, 2)] {
            other.pass(seat, 1, ticket).unwrap();
            assert!(other.waits(seat).is_some());
        }
        other.give(1).unwrap();
        other.pass(2, 1, 1).unwrap();
        let waiting = [0, 1, 2].map(|seat| other.waits(seat).is_some());
        assert_eq!(waiting, [false, true, false]);
        other.give(1).unwrap();
        assert_eq!(other.waits(1), None);
        let unknown = other.pass(1, 9, 1);
        assert!(matches!(unknown, Err(Refusal::Fails(why)) if why.contains("semaphore 9")));
    }

    #[test]
    fn a_ticket_is_good_once() {
        let mut peers = peers(3);
        peers.create_semaphore(1, 1).unwrap();
        peers.pass(0, 1, 1).unwrap();
        peers.pass(1, 1, 3).unwrap();
        for used in [0, 1, 3] {
            let again = peers.pass(2, 1, used);
            assert!(matches!(again, Err(Refusal::Fails(why)) if why.contains("used before")));
        }
        // The highest ticket has no turn, and nothing overflows.
        peers.pass(2, 1, u64::MAX).unwrap();
        (0..3).for_each(|_| peers.give(1).unwrap());
        assert!(peers.waits(1).is_some() && peers.waits(2).is_some());
        peers.take_leave(0);
        peers.leave(0);
        assert!(peers.all_wait());
    }

    #[test]
    fn names_are_made_once_by_anybody_and_mean_one_thing() {
        let mut peers = peers(2);
        assert_eq!(peers.create_barrier(1, 0), error(GL_INVALID_VALUE));
        peers.create_barrier(1, 2).unwrap();
        peers.create_barrier(1, 2).unwrap();
        assert_eq!(peers.create_barrier(1, 1), error(GL_INVALID_OPERATION));
        peers.create_semaphore(1, 0).unwrap();
        peers.create_semaphore(1, 0).unwrap();
        assert_eq!(peers.create_semaphore(1, 1), error(GL_INVALID_OPERATION));
        for unknown in [
            peers.exec_barrier(0, 9),
            peers.destroy_barrier(9),
            peers.take(0, 9).map(drop),
            peers.give(9),
            peers.destroy_semaphore(9),
        ] {
            assert_eq!(unknown, error(GL_INVALID_OPERATION));
        }
        peers.exec_barrier(0, 1).unwrap();
        peers.take(1, 1).unwrap();
        assert_eq!(peers.destroy_barrier(1), error(GL_INVALID_OPERATION));
        assert_eq!(peers.destroy_semaphore(1), error(GL_INVALID_OPERATION));
        peers.give(1).unwrap();
        peers.exec_barrier(1, 1).unwrap();
        peers.destroy_barrier(1).unwrap();
        peers.destroy_semaphore(1).unwrap();
    }

    #[test]
    fn names_are_bounded_and_so_are_values() {
        let mut peers = peers(1);
        for name in 0..MOST_NAMES as u32 {
            peers.create_barrier(name, 1).unwrap();
            peers.create_semaphore(name, u32::MAX).unwrap();
        }
        assert_eq!(peers.create_barrier(u32::MAX, 1), error(GL_OUT_OF_MEMORY));
        assert_eq!(peers.create_semaphore(u32::MAX, 1), error(GL_OUT_OF_MEMORY));
        peers.create_barrier(0, 1).unwrap();
        assert_eq!(peers.give(0), error(GL_INVALID_OPERATION));
    }

    #[test]
    fn who_dies_in_a_barrier_fails_the_others_now_and_later() {
        let mut peers = peers(4);
        peers.create_barrier(1, 3).unwrap();
        peers.create_semaphore(2, 1).unwrap();
        peers.exec_barrier(0, 1).unwrap();
        peers.exec_barrier(1, 1).unwrap();
        peers.take_leave(1);
        peers.leave(1);
        let why = peers.failure(0).unwrap();
        assert_eq!(why, "program 1 has died at barrier 1");
        assert_eq!(peers.failure(2), None);
        let later = peers.exec_barrier(2, 1);
        assert!(matches!(later, Err(Refusal::Fails(why)) if why.contains("has died")));
        peers.leave(0);
        // Operations that need not wait are still done.
        peers.take(3, 2).unwrap();
        assert!(matches!(peers.take(3, 2), Err(Refusal::Fails(why)) if why.contains("has died")));
    }

    #[test]
    fn who_says_goodbye_leaves_the_others_alone() {
        let mut peers = peers(3);
        peers.create_barrier(1, 2).unwrap();
        peers.exec_barrier(0, 1).unwrap();
        peers.take_leave(2);
        peers.leave(2);
        assert_eq!(peers.failure(0), None);
        peers.exec_barrier(1, 1).unwrap();
        assert_eq!(peers.waits(0), None);
        peers.exec_barrier(0, 1).unwrap();
        peers.take_leave(1);
        peers.leave(1);
        let why = peers.failure(0).unwrap();
        assert!(
            why.contains("is for 2 programs, and no more than 1"),
            "{why}"
        );
        peers.leave(0);
        assert!(peers.is_empty());
    }

    #[test]
    fn a_program_that_is_yet_to_come_may_fill_a_barrier() {
        let mut peers = Peers::new(Some(2));
        peers.join(0, "first");
        peers.create_barrier(1, 2).unwrap();
        peers.exec_barrier(0, 1).unwrap();
        assert!(peers.all_wait() && peers.is_awaited());
        peers.join(5, "second");
        assert!(!peers.is_awaited());
        peers.exec_barrier(5, 1).unwrap();
        assert_eq!(peers.waits(0), None);
    }

    #[test]
    fn where_nobody_can_go_on_all_fail() {
        let mut peers = peers(2);
        peers.create_semaphore(1, 0).unwrap();
        peers.create_semaphore(2, 0).unwrap();
        peers.take(0, 1).unwrap();
        assert!(!peers.all_wait());
        peers.take(1, 2).unwrap();
        assert!(peers.all_wait());
        let places = peers.describe();
        assert!(
            places.contains("program 1 waits at semaphore 2"),
            "{places}"
        );
        peers.give_up("all wait");
        assert!((0..2).all(|seat| peers.failure(seat) == Some("all wait")));
    }

    #[test]
    fn who_waits_is_served_nothing_else() {
        let mut peers = peers(2);
        peers.create_barrier(1, 2).unwrap();
        peers.create_semaphore(1, 1).unwrap();
        peers.exec_barrier(0, 1).unwrap();
        assert_eq!(peers.take(0, 1), Err(Refusal::Waits));
        assert_eq!(peers.exec_barrier(0, 1), Err(Refusal::Waits));
    }
}
