//! Snapshots: the whole state of a renderer, as a stream that brings a new renderer to the same
//! state.
//!
//! Objects that contexts share are read through a context of the snapshot's own, which shares them,
//! so that no program's state is touched. Each context's own state is read in that context,
//! parameter by parameter; if the driver refuses a parameter, the context does not have it. Names
//! in the stream are the client's.
//!
//! Three kinds of state are handled separately: display lists, which no driver returns (`lists`);
//! programs, which are sent as the driver's binaries (`programs`); and default framebuffers, whose
//! planes are read and written like those of tiles.

mod buffers;
mod driver;
mod fixed;
mod formats;
mod framebuffers;
pub(crate) mod lists;
mod others;
mod programs;
mod script;
mod state;
mod textures;
mod vertex_arrays;

use crate::binaries::BinaryKey;
use crate::context::{Api, Context};
use crate::egl;
use crate::info::Request;
use crate::names::{Names, Shared};
use crate::offset::Large;
use crate::renderer::Renderer;
use crate::surface::{fault, SharedSurface};
use driver::{call, Driver};
use mgn_wire::hello::{plane, surface, Config};
use mgn_wire::{gl::*, Decoder, Fault, NoSnapshot, Reply, Slice, SNAPSHOT_PART};
use script::{list, say, Script};
use std::collections::{BTreeMap, HashMap};

/// Names that clients do not reach by counting, for a context and a surface that exist while a
/// snapshot is executed.
const OWN_CONTEXT: u32 = 0xffff_fff1;
const OWN_SURFACE: u32 = 0xffff_fff2;

/// Objects that the contexts of a group have in common.
struct Objects<'a> {
    shared: &'a Shared,
    /// The API of the context in which the objects are made.
    api: Api,
    /// Targets of textures, by the driver's names.
    targets: HashMap<u32, u32>,
    /// The key that seals program binaries; none if the new renderer does not accept them.
    binary_key: Option<&'a BinaryKey>,
}

/// The current context.
struct Own<'a> {
    cx: &'a Context,
    names: &'a Names,
    /// The viewports that the program has set, by the driver's.
    large: &'a Large,
}

/// The fault for an operation that is under way and cannot be continued in a new renderer.
fn why_not_now(what: &str) -> Fault {
    NoSnapshot::NotNow(what.into()).into()
}

/// The fault for state that cannot be read back from the driver.
fn refusal(what: &str) -> Fault {
    NoSnapshot::Never(what.into()).into()
}

impl Renderer {
    /// Sends messages that bring a new renderer to the state of this one. May be called only
    /// between two messages of the client. Programs cannot see any difference afterwards. Without
    /// `binaries`, the new renderer does not accept this one's program binaries.
    ///
    /// # Errors
    /// The error of `send`, or [`Fault::NoSnapshot`]. The part that was sent before the error is
    /// useless.
    pub fn snapshot(
        &mut self,
        binaries: bool,
        send: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let current = self.cx.as_ref().map_or(0, |cx| cx.id);
        self.leave();
        let mut script = Script::new(send);
        let done = self.write_all(binaries, &mut script);
        let back = self.leave_for(current);
        done?;
        back
    }

    /// Executes the messages of a snapshot in a renderer that has not executed anything yet.
    ///
    /// # Errors
    /// The fault of the messages. Commands of a valid snapshot do not fail.
    pub fn restore(&mut self, messages: &[Vec<u8>]) -> Result<(), Fault> {
        let (mut decoder, mut reply) = (Decoder::default(), Reply::default());
        let mut failed = None;
        for message in messages {
            let mut aligned = vec![0u64; message.len().div_ceil(8)];
            // SAFETY: the words have room for the message, and hold it while it is decoded.
            unsafe {
                let at = aligned.as_mut_ptr().cast::<u8>();
                at.copy_from_nonoverlapping(message.as_ptr(), message.len());
                decoder.message(at, message.len(), self, &mut reply, |_, _, _, _| Ok(()))?;
            }
            if self.failed() {
                failed.get_or_insert((self.cx.as_ref().map_or(0, |cx| cx.id), self.error()));
            }
        }
        match failed {
            None => Ok(()),
            Some((context, error)) => Err(Fault::server(format!(
                "a command of a snapshot has raised error {error:#x} in context {context}"
            ))),
        }
    }

    fn leave_for(&mut self, context: u32) -> Result<(), Fault> {
        self.leave();
        self.enter(context)?;
        self.bind()
    }

    fn write_all(&mut self, binaries: bool, script: &mut Script<'_>) -> Result<(), Fault> {
        if self.is_shared() {
            return Err(refusal("other programs draw into its window"));
        }
        if !self.images.is_empty() {
            return Err(refusal("there are EGL images"));
        }
        let mut ids: Vec<u32> = self.contexts.keys().copied().collect();
        ids.sort_unstable();
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for id in ids {
            groups.entry(self.contexts[&id].group).or_default().push(id);
        }
        for members in groups.values() {
            for id in members {
                self.in_context(*id, |r| {
                    let conditional = r.cx()?.counts.is_conditional();
                    state::settled(conditional, &Driver { gl: &r.gl })
                })?;
            }
        }
        self.surfaces_made(script)?;
        for members in groups.values() {
            self.contexts_made(members, script);
            let targets = self.shared_objects(members, binaries, script)?;
            for id in members {
                script.context(*id);
                self.in_context(*id, |r| r.own_state(&targets, script))?;
            }
            self.compile_lists(members, script)?;
            script.finish()?;
        }
        self.surfaces_filled(script)?;
        for members in groups.values() {
            for id in members {
                self.last_words(*id, script);
            }
            let Some(first) = members.first() else {
                continue;
            };
            script.context(*first);
            self.in_context(*first, |r| {
                let driver = Driver { gl: &r.gl };
                programs::delete_deleted(&driver, &r.names.shared, script);
                Ok(())
            })?;
        }
        script.finish()
    }

    /// Runs work in a context without leaving a trace in it.
    fn in_context<R>(
        &mut self,
        id: u32,
        work: impl FnOnce(&mut Renderer) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        self.leave();
        self.enter(id)?;
        self.restore_boxes();
        // An error of the program's is kept, and errors of the snapshot's queries are dropped.
        self.error();
        let done = self.unheard(|r| {
            let done = work(r);
            Driver { gl: &r.gl }.forget_errors();
            done
        });
        self.leave();
        done
    }

    fn surfaces_made(&mut self, script: &mut Script<'_>) -> Result<(), Fault> {
        script.context(0);
        if self.is_offset {
            say!(script, mgn_offset());
        }
        let mut ids: Vec<u32> = self.surfaces.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            let s = self.surfaces[&id].borrow();
            let single = if s.single {
                surface::SINGLE_BUFFERED
            } else {
                0
            };
            let accumulates = s.accumulation.as_ref();
            if accumulates.is_some_and(|accumulated| !accumulated.is_clear()) {
                return Err(refusal("an accumulation buffer is in use"));
            }
            let kind = single | accumulates.map_or(0, |_| surface::ACCUMULATES);
            let srgb = if s.choice.srgb { Config::SRGB } else { 0 };
            let config = s.choice.described.id | srgb;
            say!(
                script,
                mgn_create_surface(id, kind, config, s.width, s.height)
            );
            if !s.tiles.is_empty() {
                say!(script, mgn_tiles(id, list(&s.tiles)));
            }
            if !s.wholes.is_empty() {
                say!(script, mgn_whole(id, 1));
            }
        }
        let known = |s: &SharedSurface| self.surfaces.contains_key(&s.borrow().id);
        let all = self.contexts.values().flat_map(|cx| [&cx.draw, &cx.read]);
        match all.flatten().all(known) {
            true => Ok(()),
            false => Err(why_not_now(
                "a context is current with a window that has gone",
            )),
        }
    }

    fn contexts_made(&mut self, members: &[u32], script: &mut Script<'_>) {
        let first = members[0];
        for &id in members {
            let cx = &self.contexts[&id];
            let Request {
                api,
                major,
                minor,
                flags,
            } = cx.request;
            let share = if id == first { 0 } else { first };
            script.context(0);
            say!(
                script,
                mgn_create_context(
                    id,
                    api.to_wire(),
                    major,
                    minor,
                    flags,
                    cx.config,
                    share,
                    1 << 20
                )
            );
            let of = |s: &Option<SharedSurface>| s.as_ref().map_or(0, |s| s.borrow().id);
            let (draw, read) = (of(&cx.draw), of(&cx.read));
            if cx.was_current && draw == 0 {
                // The context has had its first framebuffer. The new one gets a first framebuffer
                // now, so that a later one does not set the initial state again.
                let config = self.configs[0].described.id;
                say!(script, mgn_create_surface(OWN_SURFACE, 1, config, 1, 1));
                script.context(id);
                say!(script, mgn_make_current(OWN_SURFACE, OWN_SURFACE));
                say!(script, mgn_make_current(draw, read));
                script.context(0);
                say!(script, mgn_destroy_surface(OWN_SURFACE));
            } else if draw != 0 || read != 0 {
                script.context(id);
                say!(script, mgn_make_current(draw, read));
            }
        }
    }

    /// Objects of a share group, read through a context of our own, and made in the context with
    /// the most features. Returns the targets of textures by the driver's names.
    fn shared_objects(
        &mut self,
        members: &[u32],
        binaries: bool,
        script: &mut Script<'_>,
    ) -> Result<HashMap<u32, u32>, Fault> {
        for id in members {
            // One context's changes are visible in others after its commands have finished.
            self.in_context(*id, |r| {
                // SAFETY: the context is current.
                unsafe { (r.gl.glFinish)() };
                Ok(())
            })?;
        }
        let most = |id: &&u32| match self.contexts[id].api {
            Api::Compat => 3,
            Api::Core => 2,
            Api::Es => 1,
            Api::Es1 => 0,
        };
        let Some(&maker) = members.iter().max_by_key(most) else {
            return Ok(HashMap::new());
        };
        let cx = &self.contexts[&maker];
        let (api, share, group) = (cx.api, cx.egl, cx.group);
        let reader = Request {
            api: Api::Compat,
            major: 0,
            minor: 0,
            flags: 0,
        };
        let config = crate::configs::usual(&self.configs).egl;
        let context = self.open_context(reader, config, share);
        let context =
            context.map_err(|_| refusal("this driver's contexts do not share with ours"))?;
        let none = self.utility.stand_in;
        self.make_current(context, none, none).map_err(fault)?;
        let Some(group) = self.groups.get(&group) else {
            return Ok(HashMap::new());
        };
        let driver = Driver { gl: &self.gl };
        let mut objects = Objects {
            shared: &group.shared,
            api,
            targets: HashMap::new(),
            binary_key: binaries.then_some(&self.binary_key),
        };
        script.context(maker);
        let done = write_objects(&driver, &mut objects, script);
        let targets = objects.targets;
        let _ = self.make_current(egl::NO_CONTEXT, egl::NO_SURFACE, egl::NO_SURFACE);
        self.egl.destroy_context(context);
        done.map(|()| targets)
    }

    /// The current context's own objects and state.
    fn own_state(
        &mut self,
        targets: &HashMap<u32, u32>,
        script: &mut Script<'_>,
    ) -> Result<(), Fault> {
        self.pack(true)?;
        let Some(cx) = self.cx.as_deref() else {
            return Ok(());
        };
        let driver = Driver { gl: &self.gl };
        let own = Own {
            cx,
            names: &self.names,
            large: &self.large,
        };
        let objects = Objects {
            shared: &self.names.shared,
            api: cx.api,
            targets: targets.clone(),
            binary_key: None,
        };
        write_own(&driver, &objects, &own, script)
    }

    /// Lists are compiled in a separate context, where side effects do not matter.
    fn compile_lists(&mut self, members: &[u32], script: &mut Script<'_>) -> Result<(), Fault> {
        let compat = |id: &&u32| self.contexts[id].api == Api::Compat;
        let Some(&like) = members.iter().find(compat) else {
            return Ok(());
        };
        let cx = &self.contexts[&like];
        let (request, group) = (cx.request, cx.group);
        let Some(group) = self.groups.get(&group) else {
            return Ok(());
        };
        if group.shared.lists.is_empty() {
            return Ok(());
        }
        let objects = Objects {
            shared: &group.shared,
            api: request.api,
            targets: HashMap::new(),
            binary_key: None,
        };
        let (api, flags) = (request.api.to_wire(), request.flags);
        script.context(0);
        say!(
            script,
            mgn_create_context(
                OWN_CONTEXT,
                api,
                request.major,
                request.minor,
                flags,
                0,
                like,
                1 << 20
            )
        );
        script.context(OWN_CONTEXT);
        lists::write(&objects, script)?;
        script.context(0);
        say!(script, mgn_destroy_context(OWN_CONTEXT));
        Ok(())
    }

    /// The contents of the default framebuffers.
    fn surfaces_filled(&mut self, script: &mut Script<'_>) -> Result<(), Fault> {
        let mut ids: Vec<u32> = self.contexts.keys().copied().collect();
        ids.sort_unstable();
        let mut surfaces: Vec<u32> = self.surfaces.keys().copied().collect();
        surfaces.sort_unstable();
        // With offset tiling, the buffers of other renderers hold other pixels.
        surfaces.retain(|_| !self.is_offset);
        for id in surfaces {
            let draws = |cx: &u32| {
                let draw = self.contexts[cx].draw.as_ref();
                draw.is_some_and(|s| s.borrow().id == id)
            };
            let Some(&context) = ids.iter().find(|cx| draws(cx)).or(ids.first()) else {
                return Ok(());
            };
            script.context(context);
            let (width, height, sampled) = {
                let s = self.surfaces[&id].borrow();
                let sampled = s.choice.described.samples > 0;
                (s.width as i32, s.height as i32, sampled)
            };
            // The samples of a pixel cannot be read one by one.
            for plane in plane::ALL.into_iter().filter(|_| !sampled) {
                let mut reply = Reply::default();
                let part = [self.tile_number(), 0, 0, width, height];
                self.in_context(context, |r| {
                    r.handwritten_mgn_take_tiles(id, plane, Slice::from(&part[..]), 0, &mut reply)
                })?;
                let pixels = reply.bytes().get(4..).unwrap_or(&[]);
                if !pixels.is_empty() {
                    say!(
                        script,
                        mgn_fill(id, plane, list(&part[1..]), script::bytes(pixels))
                    );
                }
            }
        }
        Ok(())
    }

    /// Errors that were not read yet.
    fn last_words(&mut self, id: u32, script: &mut Script<'_>) {
        let error = self.contexts.get(&id).map_or(GL_NO_ERROR, |cx| cx.error);
        if error != GL_NO_ERROR {
            script.context(id);
            say!(script, mgn_set_error(error));
        }
    }

    pub(crate) fn handwritten_mgn_snapshot(
        &mut self,
        part: u32,
        binaries: u32,
        why_count: u32,
        messages_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.beat();
        let mut none = None;
        if part == 0 {
            let mut parts: Vec<Vec<u8>> = Vec::new();
            let taken = self.snapshot(binaries != 0, &mut |message| {
                let length = (message.len() as u32).to_le_bytes();
                let full = |part: &Vec<u8>| part.len() + 4 + message.len() > SNAPSHOT_PART;
                if parts.last().is_none_or(full) {
                    parts.push(Vec::new());
                }
                if let Some(part) = parts.last_mut() {
                    part.extend(length);
                    part.extend(message);
                }
                Ok(())
            });
            match taken {
                Ok(()) => self.taken = parts.into(),
                Err(Fault::NoSnapshot(why)) => none = Some(why),
                Err(fault) => none = Some(NoSnapshot::Never(fault.to_string())),
            }
        }
        let part = self.taken.pop_front().filter(|_| none.is_none());
        let why = none.map_or(Vec::new(), |why| why.encode(why_count as usize));
        reply.array(&why, why_count);
        reply.array(&part.unwrap_or_default(), messages_count);
        Ok(())
    }
}

fn write_objects(
    driver: &Driver<'_>,
    objects: &mut Objects<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    state::can_be_told(objects)?;
    buffers::write(driver, objects, script)?;
    script.finish()?;
    textures::write(driver, objects, script)?;
    script.finish()?;
    textures::samplers(driver, objects, script);
    framebuffers::renderbuffers(driver, objects, script)?;
    programs::write(driver, objects, script)?;
    programs::assembly(driver, objects, script);
    fences(objects, script);
    script.finish()
}

/// When a snapshot is taken, the commands that fences wait for have finished.
fn fences(objects: &Objects<'_>, script: &mut Script<'_>) {
    let mut names: Vec<u32> = objects.shared.syncs.keys().copied().collect();
    names.sort_unstable();
    for name in names {
        say!(
            script,
            gl_fence_sync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0, name)
        );
    }
}

fn write_own(
    driver: &Driver<'_>,
    objects: &Objects<'_>,
    own: &Own<'_>,
    script: &mut Script<'_>,
) -> Result<(), Fault> {
    let pack = driver.number(GL_PIXEL_PACK_BUFFER_BINDING);
    if pack != 0 {
        call!(driver, glBindBuffer(GL_PIXEL_PACK_BUFFER, 0));
    }
    state::patterns(driver, own, script);
    if pack != 0 {
        call!(driver, glBindBuffer(GL_PIXEL_PACK_BUFFER, pack));
    }
    vertex_arrays::write(driver, own, script)?;
    framebuffers::write(driver, objects, own, script)?;
    others::write(driver, own, script)?;
    fixed::write(driver, own, script);
    state::write(driver, own, script);
    if objects.api == Api::Es1 {
        textures::crops(driver, objects, script);
    }
    state::bindings(driver, own, script)?;
    state::pixel_store(own, script);
    Ok(())
}
