//! Contexts: a program's settings, and the processes with which it composites. One of them is
//! current, for all threads.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::abi::{
    param, Communicator, ContextHandle, Destructor, Enum, DIAG_ALL_NODES, DIAG_WARNINGS,
};
use crate::communicator::{Members, Processes};
use crate::diagnostics::{call, Listening, Problem};
use crate::image::{Image, Numbered};
use crate::state::State;

/// All contexts of the process.
#[derive(Default)]
pub(crate) struct Registry {
    contexts: HashMap<usize, Context>,
    /// 0: none.
    current: usize,
    /// How many contexts and images have been made.
    numbers: usize,
}

pub(crate) struct Context {
    pub(crate) state: State,
    pub(crate) processes: Processes,
    /// None until the first frame. After an error, the context composites no more, because the
    /// other processes may be at another point.
    pub(crate) members: Option<Result<Members, String>>,
    /// The image that the program draws into.
    pub(crate) drawn: Numbered,
    /// Whether this image lies in the group's memory.
    pub(crate) is_lent: bool,
    /// The image that the program gets.
    pub(crate) result: Numbered,
    /// The timers that run, and when each was started.
    pub(crate) timers: HashMap<Enum, f64>,
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

/// The registry, locked.
pub(crate) struct Locked(MutexGuard<'static, Option<Registry>>);

impl std::ops::Deref for Locked {
    type Target = Registry;

    fn deref(&self) -> &Registry {
        self.0.as_ref().expect("it is made when it is locked")
    }
}

impl std::ops::DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut Registry {
        self.0.as_mut().expect("it is made when it is locked")
    }
}

impl Registry {
    pub(crate) fn lock() -> Locked {
        let mut guard = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
        guard.get_or_insert_with(Registry::default);
        Locked(guard)
    }

    /// # Errors
    /// [`Problem::Operation`] if no context is current.
    pub(crate) fn current(&mut self) -> Result<&mut Context, Problem> {
        let current = self.current;
        self.contexts.get_mut(&current).ok_or_else(|| {
            Problem::Operation("There is no context: call icetCreateContext first.".into())
        })
    }

    pub(crate) fn current_number(&self) -> usize {
        self.current
    }

    pub(crate) fn context(&mut self, number: usize) -> Result<&mut Context, Problem> {
        self.contexts
            .get_mut(&number)
            .ok_or_else(|| Problem::Value("There is no such context.".into()))
    }

    /// The image that the program knows by this number.
    pub(crate) fn image(&mut self, number: usize) -> Result<&mut Image, Problem> {
        let mut images = self
            .contexts
            .values_mut()
            .flat_map(|context| [&mut context.drawn, &mut context.result]);
        let found = images.find(|image| image.number == number);
        found.map(|image| &mut image.image).ok_or_else(|| {
            Problem::Value("There is no such image: its context has been destroyed.".into())
        })
    }

    /// Which messages the current context prints, and on which processes.
    pub(crate) fn listening(&self) -> Listening {
        match self.contexts.get(&self.current) {
            Some(context) => Listening {
                mask: context.state.int(param::DIAGNOSTIC_LEVEL) as u32,
                rank: Some(context.processes.rank()),
            },
            None => Listening {
                mask: DIAG_ALL_NODES | DIAG_WARNINGS,
                rank: None,
            },
        }
    }

    fn number(&mut self) -> usize {
        self.numbers += 1;
        // Code that takes the number for an address crashes there, instead of finding something.
        self.numbers << 4
    }
}

/// All processes of the communicator call this. Returns the new context, which becomes current, or
/// null.
///
/// # Safety
/// The communicator is null or one of IceT's.
#[no_mangle]
pub unsafe extern "C" fn icetCreateContext(communicator: *mut Communicator) -> ContextHandle {
    let number = call(0, |registry| {
        // SAFETY: as the caller promises.
        let processes = unsafe { Processes::new(communicator) }?;
        let number = registry.number();
        let images = [registry.number(), registry.number()].map(|number| Numbered {
            number,
            image: Image::default(),
        });
        let [drawn, result] = images;
        let context = Context {
            state: State::new(processes.rank(), processes.size()),
            processes,
            members: None,
            drawn,
            is_lent: false,
            result,
            timers: HashMap::new(),
        };
        registry.contexts.insert(number, context);
        registry.current = number;
        crate::tiles::reset(registry.current()?);
        mark();
        Ok(number)
    });
    number as ContextHandle
}

/// Lets `mgn run` know that the program has loaded this library.
fn mark() {
    let folder = std::env::var_os("MGN_RUN_DIR").filter(|folder| !folder.is_empty());
    if let Some(folder) = folder {
        // The folder may be on another host.
        let _ = std::fs::write(std::path::Path::new(&folder).join("icet"), "");
    }
}

#[no_mangle]
pub extern "C" fn icetGetContext() -> ContextHandle {
    call(0, |registry| Ok(registry.current)) as ContextHandle
}

/// With null, no context is current afterwards.
#[no_mangle]
pub extern "C" fn icetSetContext(context: ContextHandle) {
    let number = context as usize;
    call((), |registry| {
        if number != 0 {
            registry.context(number)?;
        }
        registry.current = number;
        Ok(())
    });
}

/// Ends a context. Its images, and the results of gets that point into it, are not valid any more.
#[no_mangle]
pub extern "C" fn icetDestroyContext(context: ContextHandle) {
    let number = context as usize;
    let destructor = call(0, |registry| {
        Ok(registry
            .context(number)?
            .state
            .pointer(param::RENDER_LAYER_DESTRUCTOR))
    });
    if destructor != 0 {
        // The rendering layer frees its own objects in the current context.
        let before = icetGetContext();
        icetSetContext(context);
        // SAFETY: a rendering layer puts a function there that frees what it has made, or nothing.
        let destructor = unsafe { std::mem::transmute::<usize, Destructor>(destructor) };
        // SAFETY: it is called once, before the context ends.
        unsafe { destructor() };
        icetSetContext(before);
    }
    let ended = call(None, |registry| {
        let ended = registry.contexts.remove(&number);
        if registry.current == number {
            registry.current = 0;
        }
        Ok(ended)
    });
    // Outside of the lock, because this calls the program's code that destroys the communicator.
    drop(ended);
}

/// Copies what the program has set.
#[no_mangle]
pub extern "C" fn icetCopyState(to: ContextHandle, from: ContextHandle) {
    call((), |registry| {
        let state = registry.context(from as usize)?.state.clone();
        registry.context(to as usize)?.state.copy(&state);
        Ok(())
    });
}
