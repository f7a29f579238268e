//! Stages that look at the commands of a session in the program's own process (`MGN_LOOK`): all of them, as they are before they are sent to whomever.
//!
//! They have a thread of their own, which is given copies of messages. So nothing that they do is done in the program's threads.

use crate::signals::Signals;
use mgn_spu::{Chain, Nop, Place};
use mgn_wire::{Commands, Decoder, Reply};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

/// Messages that may wait for the stages, before whoever sends another one waits too.
const WAITING: usize = 64;

/// The end of a chain to which messages are given.
pub struct Looking(Mutex<Option<Open>>);

struct Open {
    /// Messages as words, with their lengths in bytes.
    messages: SyncSender<(Vec<u64>, usize)>,
    thread: JoinHandle<()>,
}

impl Looking {
    /// Builds the chain for the session of this number. Without stages there is none.
    ///
    /// # Errors
    /// One sentence on a stage that cannot be, or on a thread that cannot.
    pub fn begin(stages: &str, session: u64) -> Result<Option<Looking>, String> {
        if stages.is_empty() {
            return Ok(None);
        }
        let stages = stages.lines().map(str::parse).collect::<Result<_, _>>();
        let chain = stages.and_then(Chain::looking).map_err(|e| e.to_string())?;
        let (messages, receiver) = sync_channel(WAITING);
        let (built, is_built) = sync_channel(1);
        let signals = Signals::block_all();
        let thread = std::thread::Builder::new().name("mgn look".into());
        let thread = thread.spawn(move || {
            let end = Box::new(Nop::default());
            match chain.build(&Place { session }, end) {
                Ok(mut chain) => {
                    let _ = built.send(Ok(()));
                    look(&mut *chain, &receiver);
                }
                Err(error) => _ = built.send(Err(error.to_string())),
            }
        });
        drop(signals);
        let thread = thread.map_err(|e| format!("no thread for stages that look: {e}"))?;
        let died = |_| Err("stages that look cannot be made".into());
        is_built.recv().unwrap_or_else(died)?;
        Ok(Some(Looking(Mutex::new(Some(Open { messages, thread })))))
    }

    /// Shows a message, and sends it by `send`, both in the same order for all threads.
    pub fn at<R>(&self, message: &[u8], send: impl FnOnce() -> R) -> R {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = &*open {
            let words = message.chunks(8).map(|bytes| {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                u64::from_ne_bytes(word)
            });
            // It has ended if it did not understand something, and said so.
            let _ = open.messages.send((words.collect(), message.len()));
        }
        send()
    }

    /// The session has come to its end: has the stages say what they have left to say.
    pub fn end(&self) {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Open { messages, thread }) = open {
            drop(messages);
            let _ = thread.join();
        }
    }
}

fn look(chain: &mut dyn Commands, messages: &Receiver<(Vec<u64>, usize)>) {
    let (mut decoder, mut reply) = (Decoder::default(), Reply::default());
    for (words, length) in messages {
        // SAFETY: so many bytes lie in the words, which nobody else has.
        let done = unsafe {
            decoder.message(
                words.as_ptr().cast(),
                length,
                chain,
                &mut reply,
                |_, _, _, _| Ok(()),
            )
        };
        if let Err(fault) = done {
            crate::log::line(format_args!("stages that look see no more: {fault}"));
            return;
        }
    }
    chain.end();
}
