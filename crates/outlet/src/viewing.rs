//! Pictures for a viewer, which shows them in browsers.

use std::path::{Path, PathBuf};

use mgn_fabric::{Address, Token};
use mgn_present::{Picture, Target};
use mgn_sys::signals::NoPipeSignal;
use mgn_viewer::{Counters, Feed, FeedOptions};

use crate::OutletError;

/// The largest width and height that viewers take.
const SIDE_MAX: u32 = 16_384;

/// A feed of one tile.
#[derive(Debug)]
pub struct Viewing {
    feed: Feed,
    address: Address,
    counters: Counters,
}

impl Viewing {
    pub fn open(
        address: Option<&str>,
        token: Option<&Path>,
        tile: u16,
    ) -> Result<Viewing, OutletError> {
        let address: Address = address
            .unwrap_or(mgn_wall::VIEWER)
            .parse()
            .map_err(OutletError::Address)?;
        let token = match &address {
            Address::Tcp { .. } => Some(token_of(&address, token)?),
            _ => None,
        };
        let program = std::env::current_exe().unwrap_or_default();
        let name = program.file_name().unwrap_or_default();
        // The feed's threads inherit it: a viewer that ends is not to end the program.
        let _guard = NoPipeSignal::block();
        let feed = Feed::start(FeedOptions {
            viewer: address.clone(),
            token,
            tile,
            name: name.to_string_lossy().into_owned(),
        });
        Ok(Viewing {
            feed,
            address,
            counters: Counters::default(),
        })
    }

    /// Takes a picture. The viewer gets the parts that it asks for.
    pub fn show(&mut self, picture: &Picture<'_>) -> Result<(), OutletError> {
        if let Some(why) = self.feed.refused() {
            return Err(no_pictures(&self.address, why));
        }
        let (width, height) = (picture.width, picture.height);
        if width.max(height) > SIDE_MAX {
            return Err(OutletError::Size {
                width: width as usize,
                height: height as usize,
                max: SIDE_MAX,
            });
        }
        self.feed.show(picture)?;
        self.counters.frames += 1;
        self.counters.bytes += u64::from(picture.stride) * u64::from(height);
        self.feed.count(&self.counters);
        Ok(())
    }
}

/// The token in a file, or in the one that the environment names.
fn token_of(address: &Address, file: Option<&Path>) -> Result<Token, OutletError> {
    let set = std::env::var_os("MGN_TOKEN_FILE").filter(|file| !file.is_empty());
    let Some(file) = file.map(Path::to_owned).or(set.map(PathBuf::from)) else {
        let why = "it needs a token with the role server; name its file, or set MGN_TOKEN_FILE";
        return Err(no_pictures(address, why.into()));
    };
    Token::read(&file).map_err(|error| no_pictures(address, error.to_string()))
}

fn no_pictures(address: &Address, why: String) -> OutletError {
    let address = address.to_string();
    OutletError::Viewer { address, why }
}
