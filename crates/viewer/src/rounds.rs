//! Which frame every tile should show next, so that all of a wall change together. No I/O.
//!
//! In a *round*, every feed in view is asked for one frame, a little ahead of the newest that any
//! has seen. When all have answered with that frame, the pictures are shown. A feed without new
//! frames answers with its newest, and the others wait for it if they are further. A feed that has
//! already passed the frame answers with a later one. Then all are asked again, further ahead.
//!
//! Feeds may say anything. A feed that claims to be far ahead of most others, or to start again and
//! again, or that is replaced over and over, must not keep the others from being shown.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::message::{Ask, Form, Head};

/// The most frames to ask ahead.
const MARGIN_MAX: u64 = 63;
/// How many frames a tile may be ahead of most others in a round, which is about a second: the
/// others are waited for until they have caught up. A tile that draws with the others seems further
/// ahead only if they have not reported their frames for a while.
const LEAD_MAX: u64 = MARGIN_MAX;
/// After this number of rounds without a late feed, a smaller margin is tried.
const PUNCTUAL_ROUNDS: u32 = 32;

/// A picture that a feed has sent.
#[derive(Debug, Clone)]
pub struct Shown {
    pub head: Head,
    pub jpeg: Arc<[u8]>,
    /// Grows with every picture that is shown, whatever its tile.
    pub version: u64,
}

/// The state of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// It has never had a feed.
    Waiting,
    Live,
    /// Its feed keeps the others waiting, so they continue without it.
    Late,
    /// Its feed has gone.
    Lost,
}

#[derive(Debug)]
pub struct Rounds {
    tiles: Vec<Tile>,
    /// How long the others wait for a tile, and for how long tiles with different frames are not
    /// shown together.
    patience: Duration,
    round: Option<Round>,
    version: u64,
    margin: u64,
    streak: u32,
}

#[derive(Debug, Default)]
struct Tile {
    fed: bool,
    /// Whether it has ever had a feed.
    known: bool,
    late: bool,
    /// The newest frame that its feed is known to have seen.
    newest: u64,
    want: Option<Form>,
    /// The last request to its feed, until the feed answers.
    asked: Option<Ask>,
    pending: Option<Shown>,
    /// The frame with which it answered in this round when others were further.
    behind: u64,
    shown: Option<Shown>,
}

#[derive(Debug)]
struct Round {
    frame: u64,
    /// When the first answer came, and when the first one came after all were asked again.
    began: Option<Instant>,
    since: Option<Instant>,
}

impl Rounds {
    pub fn new(tiles: usize, patience: Duration) -> Rounds {
        Rounds {
            tiles: (0..tiles).map(|_| Tile::default()).collect(),
            patience,
            round: None,
            version: 0,
            margin: 1,
            streak: 0,
        }
    }

    /// Adds a feed, which replaces any earlier one of this tile.
    pub fn join(&mut self, tile: usize) {
        self.leave(tile);
        self.tiles[tile].fed = true;
        self.tiles[tile].known = true;
    }

    /// Removes the tile's feed.
    pub fn leave(&mut self, tile: usize) {
        let (want, known) = (self.tiles[tile].want, self.tiles[tile].known);
        self.tiles[tile] = Tile {
            want,
            known,
            ..Tile::default()
        };
    }

    /// Notes the newest frame that a feed has seen. A smaller number than before comes from a new
    /// program.
    pub fn seen(&mut self, tile: usize, newest: u64) {
        let tile = &mut self.tiles[tile];
        if newest < tile.newest {
            (tile.pending, tile.behind) = (None, 0);
        }
        tile.newest = newest;
    }

    pub fn picture(&mut self, tile: usize, head: Head, jpeg: Arc<[u8]>) {
        self.seen(tile, head.newest);
        let tile = &mut self.tiles[tile];
        tile.asked = None;
        tile.late = false;
        tile.pending = Some(Shown {
            head,
            jpeg,
            version: 0,
        });
    }

    /// The form in which a tile's pictures are wanted; none if no watcher sees the tile.
    pub fn want(&mut self, tile: usize, form: Option<Form>) {
        self.tiles[tile].want = form;
    }

    pub fn shown(&self, tile: usize) -> Option<&Shown> {
        self.tiles[tile].shown.as_ref()
    }

    pub fn health(&self, tile: usize) -> Health {
        let tile = &self.tiles[tile];
        match (tile.fed, tile.known) {
            (true, _) if tile.late => Health::Late,
            (true, _) => Health::Live,
            (_, true) => Health::Lost,
            _ => Health::Waiting,
        }
    }

    /// The version of the newest picture that is shown.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Proceeds as far as possible, and returns which requests to send to which tiles. `ready` says
    /// whether a watcher would take pictures.
    pub fn advance(&mut self, now: Instant, ready: bool) -> Vec<(usize, Ask)> {
        if self.round.is_some() {
            self.conclude(now);
        }
        let frame = self.ahead();
        match &mut self.round {
            // The programs may have restarted, or the frame may come from feeds that have gone.
            Some(round) => round.frame = round.frame.min(frame),
            None if ready => {
                self.round = Some(Round {
                    frame,
                    began: None,
                    since: None,
                });
            }
            None => {}
        }
        let Some(frame) = self.round.as_ref().map(|round| round.frame) else {
            return Vec::new();
        };
        let mut asks = Vec::new();
        for (n, tile) in self.tiles.iter_mut().enumerate() {
            let Some(form) = tile.want.filter(|_| tile.fed && tile.pending.is_none()) else {
                continue;
            };
            let same = tile.shown.as_ref().filter(|shown| shown.head.form == form);
            let have = same.map_or(0, |shown| shown.head.frame).max(tile.behind);
            let ask = Ask { frame, have, form };
            // A late feed gets no further request until it answers.
            if tile.asked != Some(ask) && !(tile.late && tile.asked.is_some()) {
                tile.asked = Some(ask);
                asks.push((n, ask));
            }
        }
        asks
    }

    /// Shows the round's pictures if all of them are there, or if the time to wait is over.
    fn conclude(&mut self, now: Instant) {
        // The others do not wait for a tile that is far ahead of them.
        let newest = self.newest();
        let has_strayed = |tile: &Tile| tile.newest > newest;
        let members = self.tiles.iter().filter(|tile| tile.is_member());
        let Some((_, frame)) = members
            .clone()
            .filter_map(|tile| Some((tile, tile.pending.as_ref()?.head.frame)))
            .max_by_key(|(tile, frame)| (!has_strayed(tile), *frame))
        else {
            return;
        };
        let mut awaited = members.filter(|tile| tile.is_awaited() && !has_strayed(tile));
        let agreed = awaited.clone().all(|tile| tile.frame() == Some(frame));
        let answered = awaited.all(|tile| tile.pending.is_some());
        let ahead = self.ahead();
        let Some(round) = &mut self.round else {
            return;
        };
        let began = *round.began.get_or_insert(now);
        let since = *round.since.get_or_insert(now);
        let over = |since| now.duration_since(since) >= self.patience;
        if !agreed && !answered && !over(since) {
            return;
        }
        if agreed {
            self.streak += u32::from(began == since);
            if self.streak >= PUNCTUAL_ROUNDS {
                (self.streak, self.margin) = (0, self.margin.saturating_sub(1));
            }
        } else if answered && !over(began) {
            let behind = self.tiles.iter_mut();
            let behind = behind.filter(|tile| tile.is_behind(frame) && !has_strayed(tile));
            let behind: Vec<&mut Tile> = behind.collect();
            if behind.iter().all(|tile| tile.newest <= frame) {
                round.frame = frame;
                for tile in behind {
                    let earlier = tile.pending.take();
                    tile.behind = earlier.map_or(0, |picture| picture.head.frame);
                }
                return;
            }
            self.streak = 0;
            let further = (self.margin * 2 + 1).min(MARGIN_MAX);
            round.frame = ahead.saturating_add(further - self.margin);
            round.since = None;
            self.margin = further;
            for tile in &mut self.tiles {
                (tile.pending, tile.behind) = (None, 0);
            }
            return;
        }
        self.round = None;
        for tile in &mut self.tiles {
            tile.behind = 0;
            if let Some(picture) = tile.pending.take() {
                self.version += 1;
                tile.shown = Some(Shown {
                    version: self.version,
                    ..picture
                });
            } else if tile.is_member() && tile.is_awaited() && tile.frame() != Some(frame) {
                tile.late = true;
            }
        }
    }

    /// A frame that no feed should have reached when it gets the request.
    fn ahead(&self) -> u64 {
        self.newest().saturating_add(1 + self.margin)
    }

    /// The newest frame that a tile has seen, except those too far ahead of the others. If half of
    /// the tiles are far ahead of the other half, the other half counts. A frame that all have
    /// passed is shown at once, but a frame far ahead would never be.
    fn newest(&self) -> u64 {
        let members = self.tiles.iter().filter(|tile| tile.is_member());
        let awaited = members.filter(|tile| tile.is_awaited());
        let mut all: Vec<u64> = awaited.map(|tile| tile.newest).collect();
        all.sort_unstable();
        let middle = all.len().saturating_sub(1) / 2;
        let most = all.get(middle).map_or(0, |n| n.saturating_add(LEAD_MAX));
        let near = all.into_iter().rev().find(|newest| *newest <= most);
        near.unwrap_or(0)
    }
}

impl Tile {
    /// Whether it takes part in rounds.
    fn is_member(&self) -> bool {
        self.fed && self.want.is_some()
    }

    /// Whether others wait for it: it has shown that it draws, and is not late.
    fn is_awaited(&self) -> bool {
        self.newest > 0 && !self.late
    }

    /// Whether it has answered with a frame before `frame`.
    fn is_behind(&self, frame: u64) -> bool {
        let picture = self.pending.as_ref();
        picture.is_some_and(|picture| picture.head.frame < frame)
    }

    /// The frame that it would show if the round ended now.
    fn frame(&self) -> Option<u64> {
        let picture = self.pending.as_ref().or(self.shown.as_ref());
        picture.map(|picture| picture.head.frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fuzzing::Random;

    const TILE_TIMEOUT: Duration = Duration::from_secs(1);
    const FORM: Form = Form {
        reduce: 2,
        quality: 80,
    };

    fn wall(tiles: usize) -> Rounds {
        let mut rounds = Rounds::new(tiles, TILE_TIMEOUT);
        for tile in 0..tiles {
            rounds.join(tile);
            rounds.seen(tile, 1);
            rounds.want(tile, Some(FORM));
        }
        rounds
    }

    fn answer(rounds: &mut Rounds, tile: usize, frame: u64) {
        let head = Head {
            form: rounds.tiles[tile].want.unwrap(),
            frame,
            newest: frame,
            ..Head::default()
        };
        rounds.picture(tile, head, Arc::from([0u8]));
    }

    fn frames(rounds: &Rounds) -> Vec<u64> {
        let tiles = 0..rounds.tiles.len();
        tiles
            .map(|n| rounds.shown(n).map_or(0, |shown| shown.head.frame))
            .collect()
    }

    #[test]
    fn tiles_change_together() {
        let (mut rounds, now) = (wall(2), Instant::now());
        assert!(rounds.advance(now, false).is_empty(), "nobody looks");
        let asks = rounds.advance(now, true);
        assert_eq!(asks.len(), 2);
        assert_eq!(asks[0].1, asks[1].1);
        assert!(rounds.advance(now, true).is_empty(), "asked once");
        answer(&mut rounds, 1, 2);
        rounds.advance(now, true);
        assert_eq!(frames(&rounds), [0, 0]);
        answer(&mut rounds, 0, 2);
        assert!(rounds.advance(now, false).is_empty(), "nobody has room");
        assert_eq!(frames(&rounds), [2, 2]);
        let asks = rounds.advance(now, true);
        assert_eq!((asks[0].1.frame, asks[0].1.have), (4, 2));
    }

    #[test]
    fn feeds_that_have_passed_a_frame_are_asked_further_ahead() {
        let (mut rounds, mut now) = (wall(2), Instant::now());
        rounds.advance(now, true);
        answer(&mut rounds, 0, 2);
        answer(&mut rounds, 1, 9);
        rounds.seen(0, 10);
        let asks = rounds.advance(now, true);
        assert_eq!(frames(&rounds), [0, 0]);
        assert_eq!(asks.len(), 2);
        assert!(asks.iter().all(|(_, ask)| ask.frame == 14), "{asks:?}");
        for tile in [0, 1] {
            answer(&mut rounds, tile, 14);
        }
        rounds.advance(now, true);
        assert_eq!(frames(&rounds), [14, 14]);
        // Tiles that never agree are shown as they are.
        rounds.advance(now, true);
        for frame in [20, 30] {
            assert_eq!(frames(&rounds), [14, 14]);
            answer(&mut rounds, 0, frame);
            answer(&mut rounds, 1, frame + 1);
            rounds.seen(0, frame + 2);
            rounds.advance(now, true);
            now += TILE_TIMEOUT;
        }
        assert_eq!(frames(&rounds), [30, 31]);
    }

    #[test]
    fn a_feed_that_is_behind_is_waited_for() {
        let (mut rounds, mut now) = (wall(2), Instant::now());
        rounds.advance(now, true);
        // Both draw slowly, and one of them had not drawn the second frame when it was asked.
        answer(&mut rounds, 0, 2);
        answer(&mut rounds, 1, 1);
        let asks = rounds.advance(now, true);
        assert_eq!(frames(&rounds), [0, 0]);
        assert_eq!(asks.len(), 1, "only the feed that is behind is asked");
        let (tile, ask) = asks[0];
        assert_eq!((tile, ask.frame, ask.have), (1, 2, 1));
        answer(&mut rounds, 1, 2);
        rounds.advance(now, true);
        assert_eq!(frames(&rounds), [2, 2]);

        rounds.advance(now, true);
        answer(&mut rounds, 0, 3);
        answer(&mut rounds, 1, 2);
        rounds.advance(now, true);
        now += TILE_TIMEOUT;
        rounds.advance(now, true);
        assert_eq!(frames(&rounds), [3, 2]);
        assert_eq!(rounds.health(1), Health::Late);
    }

    #[test]
    fn the_others_wait_for_a_tile_only_so_long() {
        let (mut rounds, mut now) = (wall(3), Instant::now());
        rounds.advance(now, true);
        answer(&mut rounds, 0, 2);
        answer(&mut rounds, 2, 2);
        rounds.advance(now, true);
        assert_eq!(frames(&rounds), [0, 0, 0]);
        now += TILE_TIMEOUT;
        let asks = rounds.advance(now, true);
        assert_eq!(frames(&rounds), [2, 0, 2]);
        assert_eq!(rounds.health(1), Health::Late);
        assert_eq!(asks.len(), 2, "the late one is left alone");
        answer(&mut rounds, 0, 4);
        answer(&mut rounds, 2, 4);
        rounds.advance(now, true);
        assert_eq!(frames(&rounds), [4, 0, 4], "it is not waited for");
        answer(&mut rounds, 1, 3);
        for (tile, frame) in [(0, 6), (2, 6)] {
            answer(&mut rounds, tile, frame);
        }
        let asks = rounds.advance(now, true);
        assert_eq!(rounds.health(1), Health::Live);
        assert_eq!(asks.len(), 1, "it is one of them again");
        assert_eq!((asks[0].0, asks[0].1.frame), (1, 6));
    }

    #[test]
    fn a_lost_tile_is_not_waited_for() {
        let (mut rounds, now) = (wall(2), Instant::now());
        rounds.advance(now, true);
        answer(&mut rounds, 0, 2);
        rounds.advance(now, true);
        rounds.leave(1);
        assert_eq!(rounds.health(1), Health::Lost);
        rounds.advance(now, true);
        answer(&mut rounds, 0, 2);
        rounds.advance(now, true);
        assert_eq!(frames(&rounds), [2, 0]);
        // Its successor counts from 1 again.
        rounds.seen(0, 1000);
        rounds.leave(0);
        for tile in [0, 1] {
            rounds.join(tile);
        }
        let asks = rounds.advance(now, true);
        assert!(asks.iter().all(|(_, ask)| ask.frame < 10), "{asks:?}");
    }

    #[test]
    fn a_standing_picture_comes_in_another_form() {
        let (mut rounds, now) = (wall(2), Instant::now());
        rounds.advance(now, true);
        for tile in [0, 1] {
            answer(&mut rounds, tile, 1);
        }
        rounds.advance(now, true);
        let fine = Form { reduce: 1, ..FORM };
        rounds.want(0, Some(fine));
        let asks = rounds.advance(now, true);
        assert_eq!(asks.len(), 1);
        assert_eq!((asks[0].1.have, asks[0].1.form), (0, fine));
        answer(&mut rounds, 0, 1);
        rounds.advance(now, true);
        assert_eq!(rounds.shown(0).unwrap().head.form, fine);
        assert_eq!(rounds.shown(1).unwrap().head.form, FORM);
        rounds.want(1, None);
        rounds.advance(now, true);
        answer(&mut rounds, 0, 2);
        rounds.advance(now, true);
        assert_eq!(
            frames(&rounds),
            [2, 1],
            "there is no wait for a tile out of sight"
        );
    }

    #[test]
    fn a_tile_that_the_window_does_not_reach_is_not_waited_for() {
        let (mut rounds, now) = (wall(2), Instant::now());
        rounds.join(1);
        assert_eq!(rounds.advance(now, true).len(), 2);
        answer(&mut rounds, 0, 2);
        rounds.advance(now, true);
        assert_eq!(frames(&rounds), [2, 0]);
        assert_eq!(rounds.health(1), Health::Live);
    }

    #[test]
    fn a_program_that_starts_again_is_followed() {
        let (mut rounds, now) = (wall(1), Instant::now());
        rounds.seen(0, 500);
        assert_eq!(rounds.advance(now, true)[0].1.frame, 502);
        rounds.seen(0, 3);
        assert_eq!(rounds.advance(now, true)[0].1.frame, 5);
    }

    #[test]
    fn a_feed_that_claims_any_frame_does_not_stop_the_others() {
        for hostile in [0, 1, 2] {
            let (mut rounds, now) = (wall(3), Instant::now());
            let honest = || (0..3).filter(|tile| *tile != hostile);
            for frame in (4..100).step_by(3) {
                rounds.seen(hostile, u64::MAX);
                for (tile, ask) in rounds.advance(now, true) {
                    assert!(tile == hostile || ask.frame <= frame, "{ask:?}");
                }
                if frame % 2 == 0 {
                    answer(&mut rounds, hostile, u64::MAX);
                    rounds.advance(now, true);
                }
                honest().for_each(|tile| answer(&mut rounds, tile, frame));
                rounds.advance(now, true);
                assert!(honest().all(|tile| frames(&rounds)[tile] == frame));
            }
        }
        // A feed that is alone is believed, as far as numbers go.
        let mut rounds = wall(1);
        rounds.seen(0, u64::MAX);
        let asks = rounds.advance(Instant::now(), true);
        assert_eq!(asks[0].1.frame, u64::MAX);
    }

    /// Whatever one feed sends, the others are still shown regularly.
    #[test]
    fn a_feed_that_does_anything_does_not_stop_the_others() {
        const STEP: Duration = Duration::from_millis(16);
        const FRAMES_UNSEEN_MAX: u64 = 320;
        for seed in 0..90 {
            let tiles = 2 + seed as usize % 3;
            let mut random = Random::new(seed);
            let (mut rounds, mut now) = (wall(tiles), Instant::now());
            let hostile = random.below(tiles as u64) as usize;
            let does = random.below(1 << 5);
            let mut asked = vec![None; tiles];
            for frame in 2..2000 {
                now += STEP;
                for _ in 0..random.below(4) {
                    let newest = match random.below(5) {
                        0 => u64::MAX,
                        1 => 1,
                        2 => frame + 60,
                        3 => frame.saturating_sub(random.below(100)).max(1),
                        _ => 1 + random.below(2 * frame),
                    };
                    match random.below(5) {
                        action if does >> action & 1 == 0 => {}
                        0 => rounds.join(hostile),
                        1 => rounds.leave(hostile),
                        2 => answer(&mut rounds, hostile, newest),
                        _ => rounds.seen(hostile, newest),
                    }
                    asked_by(&mut rounds, now, &mut asked);
                }
                for tile in (0..tiles).filter(|tile| *tile != hostile) {
                    if frame % 60 == 0 {
                        rounds.seen(tile, frame);
                    }
                    if asked[tile]
                        .take_if(|ask: &mut Ask| ask.frame <= frame)
                        .is_some()
                    {
                        answer(&mut rounds, tile, frame);
                    }
                    asked_by(&mut rounds, now, &mut asked);
                    let unseen = frame - frames(&rounds)[tile];
                    let why = format!("{seed}: {hostile} of {tiles} does {does:#b}");
                    assert!(
                        unseen < FRAMES_UNSEEN_MAX,
                        "{why}: {unseen} unseen at {frame}"
                    );
                }
            }
        }
    }

    fn asked_by(rounds: &mut Rounds, now: Instant, asked: &mut [Option<Ask>]) {
        for (tile, ask) in rounds.advance(now, true) {
            asked[tile] = Some(ask);
        }
    }
}
