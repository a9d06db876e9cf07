//! What is no document.

use crate::json::{write, Json, Outcome};

const LARGEST: f64 = 1e300;

fn unless(holds: bool, why: &str) -> Outcome<()> {
    if holds {
        Ok(())
    } else {
        Err(why.into())
    }
}

/// A whole number of this name, or what it is where it is left out.
pub fn or(given: &Json, name: &str, usual: i64) -> Outcome<i64> {
    if given.has(name) {
        given.of(name).whole()
    } else {
        Ok(usual)
    }
}

/// The items of the list of this name, none where it is left out.
pub fn some<'a>(given: &'a Json, name: &str) -> Outcome<&'a [Json]> {
    if given.has(name) {
        given.of(name).list()
    } else {
        Ok(&[])
    }
}

fn number(given: &Json) -> Outcome<f64> {
    let found = given.float()?;
    unless(found.abs() <= LARGEST, "a number is too large")?;
    Ok(found)
}

fn name(given: &Json) -> Outcome<()> {
    let text = given.text()?;
    unless(!text.is_empty() && !text.contains('\0'), "a name is empty or has a zero byte")
}

fn optional(given: &Json, check: impl Fn(&Json) -> Outcome<()>) -> Outcome<()> {
    match given {
        Json::Null => Ok(()),
        _ => check(given),
    }
}

fn count(given: &Json) -> Outcome<()> {
    unless(given.whole()? >= 1, "a count is below 1")
}

/// An arm so that equal ones are the same: truths are 0 and 1.
fn arm(given: &Json) -> Outcome<String> {
    match given {
        Json::Bool(truth) => Ok(f64::from(u8::from(*truth)).to_string()),
        Json::Number(text) => {
            if crate::json::is_whole(text) {
                given.whole()?;
            }
            let found = given.float()?;
            unless(found.is_finite(), "an arm is too large")?;
            Ok((found + 0.0).to_string()) // -0 is 0
        }
        Json::List(_) | Json::Map(_) => Err("an arm is no name".into()),
        _ => Ok(write(given)),
    }
}

fn different(mut keys: Vec<String>) -> bool {
    let size = keys.len();
    keys.sort();
    keys.dedup();
    keys.len() == size
}

pub fn document(given: &Json) -> Outcome<()> {
    unless(given.of("format").text() == Ok("belman-weights/1"), "its format is another one")?;
    name(given.of("study"))?;
    name(given.of("salt"))?;
    count(given.of("version"))?;
    optional(given.of("segment"), |one| one.text().map(|_| ()))?;
    optional(given.of("decisions"), count)?;
    optional(given.of("published"), |one| number(one).map(|_| ()))?;
    optional(given.of("valid_until"), |one| number(one).map(|_| ()))?;
    let keys: Outcome<Vec<String>> = given.of("arms").list()?.iter().map(arm).collect();
    let arms = given.of("arms").list()?.len();
    unless(arms > 0 && different(keys?), "its arms are equal, or there are none")?;
    let floors: Outcome<Vec<f64>> = given.of("floors").list()?.iter().map(number).collect();
    let floors = floors?;
    unless(floors.len() == arms, "it has not one floor an arm")?;
    let points = match given.of("assigner") {
        Json::Null => 1 << 32,
        assigner => self::assigner(assigner)?,
    };
    cuts(given, arms, points)?;
    if *given.of("contexts") != Json::Null {
        if *given.of("assigner") != Json::Null {
            unless(given.of("assigner").of("by").text() == Ok("growthbook"), "it has no contexts")?;
            return leaves(given.of("contexts"), arms, points);
        }
        contexts(given.of("contexts"), arms)?;
        let own = floors.iter().map(|floor| (floor * 4294967296.0).floor()).sum::<f64>();
        unless(floors.iter().all(|floor| *floor >= 0.0) && own <= 4294967296.0, "its floors are too large")?;
    }
    Ok(())
}

fn cuts(given: &Json, arms: usize, points: i64) -> Outcome<()> {
    let least = if *given.of("assigner") == Json::Null { 0 } else { -1 };
    let (mut start, mut all, mut own) = (0, 0, vec![0; arms]);
    for cut in given.of("cuts").list()? {
        let pair = cut.list()?;
        unless(pair.len() == 2, "a cut is no pair")?;
        let (end, arm) = (pair[0].whole()?, pair[1].whole()?);
        unless(end > start && arm >= least && arm < arms as i64, "a cut cannot be")?;
        if arm >= 0 {
            own[arm as usize] += end - start;
            all += end - start;
        }
        start = end;
    }
    unless(start == points && all > 0, "its cuts do not end at the last point, or name no arm")?;
    let told: Outcome<Vec<f64>> = given.of("weights").list()?.iter().map(Json::float).collect();
    let weights: Vec<f64> = own.iter().map(|one| *one as f64 / all as f64).collect();
    unless(told? == weights, "its weights are not those of its cuts")
}

fn ranges(given: &Json) -> Outcome<()> {
    for range in given.list()? {
        let ends = range.list()?;
        unless(ends.len() == 2, "a range is no pair")?;
        let (start, end) = (ends[0].float()?, ends[1].float()?);
        unless(0.0 <= start && start <= end && end <= 1e6, "a range cannot be")?;
    }
    Ok(())
}

/// How many points an assigner has.
fn assigner(given: &Json) -> Outcome<i64> {
    match given.of("by").text()? {
        "growthbook" => {
            for filter in some(given, "filters")? {
                filter.of("seed").text()?;
                unless(matches!(filter.of("hash_version").whole()?, 1 | 2), "there is no such hash")?;
                ranges(filter.of("ranges"))?;
            }
            match or(given, "hash_version", 2)? {
                1 => Ok(1_000),
                2 => Ok(10_000),
                _ => Err("there is no such hash".into()),
            }
        }
        "eppo" => {
            for entry in some(given, "traffic")? {
                entry.of("salt").text()?;
                ranges(entry.of("ranges"))?;
            }
            let shards = or(given, "shards", 10_000)?;
            unless((1..=1_000_000).contains(&shards), "there are no so many shards")?;
            Ok(shards)
        }
        "elsewhere" => Ok(1 << 32),
        _ => Err("this assigner is not known".into()),
    }
}

fn contexts(given: &Json, arms: usize) -> Outcome<()> {
    let Json::Map(names) = given.of("names") else {
        return Err("names are a map".into());
    };
    let kinds = |kind: &Json| *kind == Json::Null || matches!(kind.text(), Ok("number" | "category"));
    unless(names.iter().all(|one| kinds(&one.1)), "a name is of another kind")?;
    let slots = given.of("slots").list()?;
    let mut keys = Vec::new();
    for slot in slots {
        keys.push(self::slot(slot, names)?);
    }
    unless(!slots.is_empty() && different(keys), "its slots are equal, or there are none")?;
    let draws = given.of("draws").whole()?;
    unless((1..=1 << 31).contains(&draws), "it has no draws")?;
    unless(slots.len() as i64 * draws * arms as i64 <= 1 << 17, "it has too many coefficients")?;
    let most = if given.has("most") { given.of("most").float()? } else { 1.0 };
    unless((0.0..=1.0).contains(&most), "most is no share")?;
    for part in ["settled", "control"] {
        optional(given.of(part), |one| {
            unless((0..arms as i64).contains(&one.whole()?), "settled and control are no arms")
        })?;
    }
    unless(arms > 1 || *given.of("settled") == Json::Null, "no arm takes part")
}

fn leaves(given: &Json, arms: usize, points: i64) -> Outcome<()> {
    let Json::Map(names) = given.of("names") else {
        return Err("names are a map".into());
    };
    let all = given.of("leaves").list()?;
    let last = all.last().ok_or("there are no leaves")?;
    unless(all.len() <= 64 && last.of("where").list()?.is_empty(), "the last leaf is not for all")?;
    for leaf in all {
        let tests = leaf.of("where").list()?;
        unless(tests.len() <= 16, "a leaf has too many tests")?;
        for test in tests {
            let parts = test.list()?;
            unless(parts.len() == 3, "a test has another size")?;
            let known = names.iter().any(|one| Ok(one.0.as_str()) == parts[0].text());
            unless(known, "a test has no name")?;
            match parts[1].text()? {
                "below" | "not below" => number(&parts[2]).map(|_| ())?,
                "is" | "is not" => parts[2].text().map(|_| ())?,
                _ => return Err("there is no such test".into()),
            }
        }
        let own: Outcome<Vec<i64>> = leaf.of("points").list()?.iter().map(Json::whole).collect();
        let own = own?;
        let fits = own.len() == arms && own.iter().all(|one| *one >= 0);
        unless(fits && own.iter().sum::<i64>() == points, "a leaf gives not all points")?;
    }
    Ok(())
}

/// A slot so that equal ones are the same.
fn slot(given: &Json, names: &[(String, Json)]) -> Outcome<String> {
    let parts = given.list()?;
    let kind = parts.first().ok_or("a slot is empty")?.text()?;
    let size = match kind {
        "constant" => 1,
        "missing" | "others" => 2,
        "level" => 3,
        "number" | "log" | "square" => 4,
        _ => return Err("a slot is of another kind".into()),
    };
    unless(parts.len() == size, "a slot has another size")?;
    let mut key = kind.to_string();
    for part in &parts[1..size.min(2)] {
        unless(names.iter().any(|one| Ok(one.0.as_str()) == part.text()), "a slot has no name")?;
        key += &write(part);
    }
    if size == 3 {
        key += &crate::json::quoted(parts[2].text()?);
    }
    if size == 4 {
        let (centre, spread) = (number(&parts[2])?, number(&parts[3])?);
        unless(spread > 0.0, "a spread is not above 0")?;
        key += &format!("{} {spread}", centre + 0.0);
    }
    Ok(key)
}
