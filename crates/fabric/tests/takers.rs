//! Several threads that take messages from one endpoint.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc};
use std::thread;
use std::time::Duration;

use mgn_fabric::endpoint::{SendOptions, Settings, Wanted};
use support::links::*;

/// Long messages are only offered at first. Both threads may find the same offer; only one of them
/// gets it, and the other returns after its timeout if no more messages come.
#[test]
fn an_offered_message_goes_to_one_thread_and_the_others_go_on() {
    const MESSAGES: usize = 60;
    const TAG: u64 = 7;
    for kind in ALL {
        let ((one, to), (other, from)) = pair(&kind, Settings::default(), Settings::default());
        let (other, taken) = (Arc::new(other), Arc::new(AtomicUsize::new(0)));
        let (ended, ends) = mpsc::channel();
        for _ in 0..2 {
            let (other, taken, ended) = (other.clone(), taken.clone(), ended.clone());
            thread::spawn(move || {
                let wanted = Wanted::new(from, TAG);
                while taken.load(Ordering::Acquire) < MESSAGES {
                    let timeout = Some(Duration::from_millis(200));
                    if let Some(message) = other.take(&wanted, timeout).unwrap() {
                        let at = taken.fetch_add(1, Ordering::AcqRel);
                        assert_eq!(message.to_vec().len(), message.len(), "{at}");
                    }
                }
                ended.send(()).unwrap();
            });
        }
        let bytes = vec![1; 3 << 20];
        for _ in 0..MESSAGES {
            one.send(to, TAG, &bytes, SendOptions::default()).unwrap();
        }
        for _ in 0..2 {
            let end = ends.recv_timeout(LONG.unwrap());
            end.unwrap_or_else(|_| {
                panic!(
                    "{}: a thread waits for a message of the other",
                    kind.address
                )
            });
        }
        assert_eq!(taken.load(Ordering::Acquire), MESSAGES, "{}", kind.address);
    }
}
