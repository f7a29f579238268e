//! How pictures are composited, as text: `depth`, `over:2,0,1`, `add/radix-8`.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::{Operation, Schedule};

/// `OPERATION[:RANK,RANK,…][/SCHEDULE]`. The operations are those of [`Operation`], and `depth` is
/// another word for `nearest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    pub operation: Operation,
    /// The ranks, front to back; none: in the order of their numbers.
    pub order: Option<Vec<usize>>,
    /// None: the group chooses, as for [`Terms::schedule`](crate::Terms::schedule).
    pub schedule: Option<Schedule>,
}

/// An error in a recipe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRecipe {
    #[error("there is no operation called {word:?}; {}", did_you_mean(.word))]
    Operation { word: String },
    #[error("{rank:?} in the order {order:?} is not a rank: give all ranks, front to back, as in over:2,0,1")]
    Rank { rank: String, order: String },
    #[error("the order names rank {0} twice")]
    Twice(usize),
    #[error("the order lacks rank {missing}: it names {named} of {size} ranks")]
    Missing {
        missing: usize,
        named: usize,
        size: usize,
    },
    #[error("the order names rank {rank}, but there are only {size} ranks, counted from 0")]
    NoSuchRank { rank: usize, size: usize },
    #[error(transparent)]
    Schedule(#[from] crate::UnknownSchedule),
}

/// The words for operations. The first word for an operation is the one that is written.
const WORDS: [(&str, Operation); 6] = [
    ("depth", Operation::Nearest),
    ("over", Operation::Over),
    ("max", Operation::Max),
    ("min", Operation::Min),
    ("add", Operation::Add),
    ("nearest", Operation::Nearest),
];

impl Recipe {
    /// One word for each operation.
    pub fn words() -> impl Iterator<Item = &'static str> {
        let is_first = |at: &usize| !WORDS[..*at].iter().any(|w| w.1 == WORDS[*at].1);
        (0..WORDS.len()).filter(is_first).map(|at| WORDS[at].0)
    }

    /// Whether the order, if there is one, has each rank of a job of `size` ranks.
    ///
    /// # Errors
    /// [`BadRecipe::Missing`], [`BadRecipe::NoSuchRank`].
    pub fn check(&self, size: usize) -> Result<(), BadRecipe> {
        let Some(order) = &self.order else {
            return Ok(());
        };
        if let Some(rank) = order.iter().copied().find(|rank| *rank >= size) {
            return Err(BadRecipe::NoSuchRank { rank, size });
        }
        match (0..size).find(|rank| !order.contains(rank)) {
            None => Ok(()),
            Some(missing) => Err(BadRecipe::Missing {
                missing,
                named: order.len(),
                size,
            }),
        }
    }

    /// Whether pictures need depths.
    pub fn needs_depth(&self) -> bool {
        self.operation == Operation::Nearest
    }
}

impl FromStr for Recipe {
    type Err = BadRecipe;

    fn from_str(text: &str) -> Result<Recipe, BadRecipe> {
        let (rest, schedule) = match text.split_once('/') {
            None => (text, None),
            Some((rest, schedule)) => (rest, Some(schedule.parse()?)),
        };
        let (word, order) = match rest.split_once(':') {
            None => (rest, None),
            Some((word, order)) => (word, Some(order)),
        };
        let known = WORDS.iter().find(|(known, _)| *known == word);
        let word = || word.to_owned();
        let (_, operation) = *known.ok_or_else(|| BadRecipe::Operation { word: word() })?;
        let order = order.map(ranks).transpose()?;
        Ok(Recipe {
            operation,
            order,
            schedule,
        })
    }
}

fn ranks(order: &str) -> Result<Vec<usize>, BadRecipe> {
    let mut ranks = Vec::new();
    for rank in order.split(',') {
        let number = rank.trim().parse().map_err(|_| BadRecipe::Rank {
            rank: rank.to_owned(),
            order: order.to_owned(),
        })?;
        if ranks.contains(&number) {
            return Err(BadRecipe::Twice(number));
        }
        ranks.push(number);
    }
    Ok(ranks)
}

impl Display for Recipe {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut words = WORDS.iter();
        let word = words.find(|(_, operation)| *operation == self.operation);
        f.write_str(word.map_or("", |(word, _)| word))?;
        for (n, rank) in self.order.iter().flatten().enumerate() {
            write!(f, "{}{rank}", if n == 0 { ':' } else { ',' })?;
        }
        if let Some(schedule) = self.schedule {
            write!(f, "/{schedule}")?;
        }
        Ok(())
    }
}

/// The word that was probably meant, or else all words.
fn did_you_mean(word: &str) -> String {
    let words = WORDS.map(|(known, _)| known);
    let plain = word.to_lowercase();
    let distance = |known: &&&str| strsim::damerau_levenshtein(known, &plain);
    let closest = words.iter().min_by_key(distance);
    match closest.filter(|known| distance(known) <= 2 && word.len() > 2) {
        Some(known) => format!("did you mean {known}?"),
        None => "use depth, over, max, min or add".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_read_as_they_are_written() {
        for text in [
            "depth",
            "over",
            "over:2,0,1",
            "add/radix-8",
            "max:1,0/direct",
        ] {
            assert_eq!(text.parse::<Recipe>().unwrap().to_string(), text);
        }
        let nearest: Recipe = "nearest".parse().unwrap();
        assert_eq!(nearest.to_string(), "depth");
        assert!(nearest.needs_depth());
    }

    #[test]
    fn mistakes_say_what_was_meant() {
        let error = |text: &str| text.parse::<Recipe>().unwrap_err().to_string();
        assert!(error("deph").contains("did you mean depth?"));
        assert!(error("Over:0,1").contains("did you mean over?"));
        assert!(error("blend").contains("use depth, over"));
        assert!(error("").contains("use depth, over"));
        assert!(error("over:0,x").contains("\"x\""));
        assert!(error("over:").contains("not a rank"));
        assert!(error("over:1,1").contains("rank 1 twice"));
        assert!(error("over/radix").contains("no schedule"));
    }

    #[test]
    fn an_order_has_every_rank() {
        let check = |text: &str, size| text.parse::<Recipe>().unwrap().check(size);
        assert_eq!(check("over", 7), Ok(()));
        assert_eq!(check("over:1,0", 2), Ok(()));
        assert!(matches!(
            check("over:1,0", 3),
            Err(BadRecipe::Missing { missing: 2, .. })
        ));
        assert!(matches!(
            check("over:1,2", 2),
            Err(BadRecipe::NoSuchRank { rank: 2, size: 2 })
        ));
    }
}
