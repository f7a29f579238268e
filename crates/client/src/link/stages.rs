//! Stages in the program's own process: all commands pass through them before they are sent.
//!
//! The stages have their own thread, which gets copies of messages and sends the output of the
//! chain. So stages do not run in the program's threads, which wait for them only for answers.

use crate::exit::end_process;
use crate::signals::Signals;
use mgn_fabric::Error;
use mgn_spu::{Chain, StageContext};
use mgn_wire::gl::GL_SCISSOR_TEST;
use mgn_wire::{everyone_answers, name, Commands, Decoder, Fault, Pack, Reply};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The most messages that may wait for the stages. A thread that sends one more blocks.
const WAITING: usize = 64;
/// How long the process waits at its end for the last output of the stages.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The receiver of messages that have passed the stages.
pub trait Outlet: Sync {
    /// Sends a message, and returns its number.
    fn send(&self, message: &[u8]) -> Result<u32, Error>;

    /// A message could not be sent.
    fn break_off(&self, error: Error);

    /// A stage has failed.
    fn lose(&self, why: &str);
}

/// The input of a chain of stages.
pub struct Stages {
    given: SyncSender<StageInput>,
    /// Set when the stages have sent their last output.
    have_ended: Arc<AtomicBool>,
}

enum StageInput {
    /// A message as words, with its length in bytes.
    Message(Vec<u64>, usize),
    /// This context waits for the answer to its last question.
    Asked(u32, SyncSender<Asked>),
    End(SyncSender<()>),
}

/// A context's last question.
pub struct Asked {
    /// The number of the message that it was sent in.
    pub number: u32,
    /// The answer of a stage, in place of the renderer's.
    pub answer: Option<Vec<u8>>,
}

impl Stages {
    /// Builds the chain for the session of this number. Its output goes to `outlet`.
    ///
    /// # Errors
    /// One sentence on a stage that cannot be built, or on a thread that cannot be started.
    pub fn begin(
        chain: &'static Chain,
        outlet: &'static impl Outlet,
        number: u64,
    ) -> Result<Stages, String> {
        let (given, receiver) = sync_channel(WAITING);
        let (built, is_built) = sync_channel(1);
        let have_ended = Arc::<AtomicBool>::default();
        let ended = have_ended.clone();
        let signals = Signals::block_all();
        let thread = thread::Builder::new().name("mgn stages".into());
        let thread = thread.spawn(move || {
            match StageThread::build(outlet, chain, &StageContext { session: number }, ended) {
                Ok(mut passage) => {
                    let _ = built.send(Ok(()));
                    passage.serve(outlet, &receiver);
                }
                Err(error) => _ = built.send(Err(error.to_string())),
            }
        });
        drop(signals);
        thread.map_err(|e| format!("no thread for stages: {e}"))?;
        let died = |_| Err("stages cannot be made".into());
        is_built.recv().unwrap_or_else(died)?;
        Ok(Stages { given, have_ended })
    }

    /// Sends a message through the stages, and on to the renderers.
    pub fn pass(&self, message: &[u8]) {
        let words = message.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        });
        self.give(StageInput::Message(words.collect(), message.len()));
    }

    /// The outcome of the last question of `context`, after it has been sent.
    pub fn asked(&self, context: u32) -> Asked {
        let (tell, told) = sync_channel(1);
        self.give(StageInput::Asked(context, tell));
        told.recv().unwrap_or_else(|_| end_process(1))
    }

    /// The session has ended: lets the stages send their last output.
    pub fn end(&self) {
        // If the thread of the stages ends the session, it has already let them do so.
        if self.have_ended.load(Ordering::Acquire) {
            return;
        }
        let (tell, told) = sync_channel(1);
        let _ = self.given.send(StageInput::End(tell));
        let _ = told.recv_timeout(LAST_WORDS);
    }

    /// The thread runs as long as the process does, unless a stage has panicked, which has been
    /// reported.
    fn give(&self, what: StageInput) {
        if self.given.send(what).is_err() {
            end_process(1);
        }
    }
}

/// The state of the thread: the chain, and its output.
struct StageThread {
    decoder: Decoder,
    chain: Box<dyn Commands>,
    have_ended: Arc<AtomicBool>,
    pack: Pack,
    sent: Rc<RefCell<Sent>>,
    /// Answers of stages, by context, that were not fetched yet.
    answers: HashMap<u32, Vec<u8>>,
}

#[derive(Default)]
struct Sent {
    /// The number of the last message with a question, by context.
    asked: HashMap<u32, u32>,
    error: Option<Error>,
}

impl StageThread {
    fn build(
        outlet: &'static impl Outlet,
        chain: &Chain,
        context: &StageContext,
        have_ended: Arc<AtomicBool>,
    ) -> Result<StageThread, mgn_spu::SpuError> {
        let sent = Rc::<RefCell<Sent>>::default();
        let pack = Pack::new({
            let sent = sent.clone();
            move |message| {
                let mut sent = sent.borrow_mut();
                match outlet.send(message.bytes) {
                    Ok(number) if message.asks => _ = sent.asked.insert(message.context, number),
                    Ok(_) => {}
                    Err(error) => sent.error = Some(error),
                }
            }
        });
        Ok(StageThread {
            decoder: Decoder::default(),
            chain: chain.build(context, Box::new(pack.clone()))?,
            have_ended,
            pack,
            sent,
            answers: HashMap::new(),
        })
    }

    fn serve(&mut self, outlet: &impl Outlet, given: &Receiver<StageInput>) {
        for given in given {
            match given {
                StageInput::Message(words, length) => {
                    if let Err(fault) = self.pass(&words, length) {
                        self.end();
                        outlet.lose(&format!("a stage in the program's process: {fault}"));
                    }
                    let error = self.sent.borrow_mut().error.take();
                    if let Some(error) = error {
                        self.end();
                        outlet.break_off(error);
                    }
                }
                StageInput::Asked(context, tell) => {
                    let number = self.sent.borrow().asked.get(&context).copied();
                    let _ = tell.send(Asked {
                        number: number.unwrap_or_default(),
                        answer: self.answers.remove(&context),
                    });
                }
                StageInput::End(tell) => {
                    self.end();
                    let _ = tell.send(());
                }
            }
        }
    }

    fn pass(&mut self, words: &[u64], length: usize) -> Result<(), Fault> {
        let mut reply = Reply::default();
        let mut questions = self.pack.questions();
        let StageThread {
            decoder,
            chain,
            pack,
            answers,
            ..
        } = self;
        // SAFETY: that number of bytes lies in the words, which no other code has.
        unsafe {
            decoder.message(
                words.as_ptr().cast(),
                length,
                &mut **chain,
                &mut reply,
                |_, context, op, reply| {
                    let is_passed_on = pack.questions() > questions;
                    if !is_passed_on {
                        ask_anything(pack, context, op)?;
                    }
                    questions = pack.questions();
                    if !is_passed_on || !reply.bytes().is_empty() {
                        answers.insert(context, reply.bytes().to_vec());
                    }
                    Ok(())
                },
            )?;
        }
        self.pack.flush();
        Ok(())
    }

    fn end(&mut self) {
        if !self.have_ended.load(Ordering::Acquire) {
            self.chain.end();
            self.have_ended.store(true, Ordering::Release);
        }
    }
}

/// Asks a harmless question in place of `op`, which a stage has answered itself. The program also
/// waits for other things, such as errors of earlier commands.
fn ask_anything(pack: &mut Pack, context: u32, op: u16) -> Result<(), Fault> {
    if context == 0 || everyone_answers(op) {
        let why = format!(
            "a stage has not passed on {}, which it must pass on",
            name(op)
        );
        return Err(Fault::refused(why));
    }
    pack.gl_is_enabled(GL_SCISSOR_TEST, &mut Reply::default())
}
