//! Creates surfaces, here and at the session's renderers.

use crate::link::session::Session;
use crate::link::surface::{Description, Kind, Owner, Surface, Texture};
use crate::link::tiles;
use crate::x11::watch::{Followed, Watch};
use mgn_wall::Fit;
use mgn_wire::hello::surface as kinds;
use std::sync::Arc;

impl Surface {
    pub fn window(
        session: &'static Session,
        watch: &Arc<Watch>,
        window: Arc<Followed>,
        description: Description,
    ) -> Arc<Surface> {
        let size = window.size();
        let watch = watch.clone();
        Surface::create(session, Kind::Window { watch, window }, description, size)
    }

    pub fn pixmap(
        session: &'static Session,
        watch: &Arc<Watch>,
        (pixmap, texture): (u32, Texture),
        size: (u32, u32),
        description: Description,
    ) -> Arc<Surface> {
        let watch = watch.clone();
        Surface::create(
            session,
            Kind::Pixmap {
                watch,
                pixmap,
                texture,
            },
            description,
            size,
        )
    }

    pub fn pbuffer(
        session: &'static Session,
        size: (u32, u32),
        description: Description,
    ) -> Arc<Surface> {
        Surface::create(session, Kind::Pbuffer, description, size)
    }

    fn create(
        session: &'static Session,
        kind: Kind,
        description: Description,
        size: (u32, u32),
    ) -> Arc<Surface> {
        let format = description.format;
        let mut server_kind = match kind {
            Kind::Pbuffer => kinds::PBUFFER,
            _ => kinds::WINDOW,
        };
        if !format.double {
            server_kind |= kinds::SINGLE_BUFFERED;
        }
        if format.accum {
            server_kind |= kinds::ACCUMULATES;
        }
        let (id, owner) = (session.new_id(), Some(session as &dyn Owner));
        let is_shared = matches!(kind, Kind::Window { .. }) && session.takes_shared_window(id);
        if is_shared {
            server_kind |= kinds::SHARED;
        }
        // All programs give it the same size. Later, this is the mural's size.
        let mural = session.wall().filter(|wall| wall.fit == Fit::Window);
        let size = match (&kind, mural.filter(|_| is_shared)) {
            (Kind::Window { watch, window }, Some(wall)) if size != wall.size => {
                watch.resize(window.xid, wall.size);
                wall.size
            }
            _ => size,
        };
        let surface = Surface::new(owner, id, is_shared, kind, description, size);
        let (width, height) = surface.size();
        let surface = Arc::new(surface);
        session.frames.register(&surface);
        session.control(|e| {
            e.mgn_create_surface(surface.id, server_kind, format.id, width, height);
        });
        if let Some(areas) = surface.areas() {
            // SAFETY: as above.
            session.message(0, tiles::encoded_areas_bytes(&areas), |e| unsafe {
                tiles::encode_areas(e, surface.id, &areas, height);
            });
        }
        surface
    }
}
