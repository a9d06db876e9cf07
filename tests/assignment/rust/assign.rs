//! Assigns units by weights documents, as docs/reference/assignment.md says.
//!
//! Every line of standard input is JSON. `{"document": …}` is the document by which units are
//! assigned from there on; `{"unit": …}` or `{"unit": …, "context": {…}}` is a unit. Each unit gets
//! one line: `{"arm": …, "chance": …, "version": …}`, `{"outside": true}` if it takes no part, or
//! `{"refused": …}`, as all units of a document that is refused are.

mod check;
mod hashes;
mod json;

use json::{Json, Outcome};
use std::collections::HashMap;
use std::io::{BufRead, Write};

const POINTS: f64 = 4294967296.0;

struct Document {
    arms: Vec<Json>,
    version: Json,
    salt: String,
    cuts: Vec<(f64, i64)>,
    floors: Vec<f64>,
    contexts: Option<Contexts>,
    tree: Json, // contexts that are leaves
    assigner: Json,
}

struct Contexts {
    names: Vec<(String, Json)>,
    slots: Vec<Slot>,
    draws: usize,
    coefficients: Vec<i64>,
    settled: Option<usize>,
    most: f64,
    control: Option<usize>,
}

enum Slot {
    Constant,
    Scaled(String, String, f64, f64),
    Level(String, String),
    Missing(String),
    Others(String),
}

enum Value {
    Number(f64),
    Word(String),
}

fn place(value: &Json) -> Outcome<Option<usize>> {
    match value {
        Json::Null => Ok(None),
        _ => Ok(Some(value.whole()? as usize)),
    }
}

fn document(given: &Json) -> Outcome<Document> {
    check::document(given)?;
    let mut cuts = Vec::new();
    for cut in given.of("cuts").list()? {
        let pair = cut.list()?;
        cuts.push((pair[0].float()?, pair[1].whole()?));
    }
    let arms = given.of("arms").list()?.to_vec();
    let floors: Outcome<Vec<f64>> = given.of("floors").list()?.iter().map(Json::float).collect();
    Ok(Document {
        contexts: match given.of("contexts") {
            inner if *inner == Json::Null || inner.has("leaves") => None,
            inner => Some(contexts(inner, arms.len())?),
        },
        tree: given.of("contexts").clone(),
        arms,
        version: given.of("version").clone(),
        salt: given.of("salt").text()?.to_string(),
        cuts,
        floors: floors?,
        assigner: given.of("assigner").clone(),
    })
}

fn contexts(given: &Json, arms: usize) -> Outcome<Contexts> {
    let Json::Map(names) = given.of("names") else {
        return Err("names are a map".into());
    };
    let mut slots = Vec::new();
    for slot in given.of("slots").list()? {
        let parts = slot.list()?;
        let text = |at: usize| parts[at].text().map(str::to_string);
        slots.push(match parts[0].text()? {
            "constant" => Slot::Constant,
            "level" => Slot::Level(text(1)?, text(2)?),
            "missing" => Slot::Missing(text(1)?),
            "others" => Slot::Others(text(1)?),
            kind @ ("number" | "log" | "square") => {
                Slot::Scaled(kind.into(), text(1)?, parts[2].float()?, parts[3].float()?)
            }
            kind => return Err(format!("there are no slots of the kind {kind}")),
        });
    }
    let bytes = hashes::base64(given.of("coefficients").text()?)?;
    let pairs = bytes.chunks_exact(2);
    let draws = given.of("draws").whole()? as usize;
    if bytes.len() != 2 * slots.len() * draws * arms {
        return Err("there are other coefficients than slots × draws × arms".into());
    }
    Ok(Contexts {
        names: names.clone(),
        slots,
        draws,
        coefficients: pairs.map(|two| i64::from(i16::from_le_bytes([two[0], two[1]]))).collect(),
        settled: place(given.of("settled"))?,
        most: match given.of("most") {
            Json::Null => 1.0,
            most => most.float()?,
        },
        control: place(given.of("control"))?,
    })
}

/// The text that is hashed for a unit.
fn name_of(unit: &Json) -> Outcome<String> {
    match unit {
        Json::Text(text) => Ok(text.clone()),
        Json::Number(text) if json::is_whole(text) && text.trim_start_matches('-').len() <= 1_000 => {
            Ok(if text == "-0" { "0".into() } else { text.clone() })
        }
        _ => Err("a unit is a text or a whole number".into()),
    }
}

/// The values of a context that are not missing.
fn values(names: &[(String, Json)], context: &Json) -> Outcome<HashMap<String, Value>> {
    let Json::Map(pairs) = context else {
        return Err("a context is a map of values by name".into());
    };
    let mut found = HashMap::new();
    for (name, value) in pairs {
        let Some((_, kind)) = names.iter().find(|one| one.0 == *name) else {
            return Err(format!("{name} is not among the names"));
        };
        let value = match value {
            Json::Null => continue,
            Json::Bool(truth) => Value::Word(if *truth { "True" } else { "False" }.into()),
            Json::Number(_) => Value::Number(value.float()?),
            Json::Text(text) => Value::Word(text.clone()),
            _ => return Err(format!("{name} is neither a number nor a word")),
        };
        match (&value, kind.text()) {
            (Value::Number(_), Ok("category")) => return Err(format!("{name} is a word here")),
            (Value::Word(_), Ok("number")) => return Err(format!("{name} is a number here")),
            (Value::Word(word), _) if word.chars().count() > 200 => {
                return Err(format!("{name} has more than 200 characters"))
            }
            (Value::Number(number), _) if number.abs() > 1e12 => {
                return Err(format!("{name} is beyond 10¹²"))
            }
            _ => {}
        }
        found.insert(name.clone(), value);
    }
    Ok(found)
}

fn slot_value(slot: &Slot, slots: &[Slot], values: &HashMap<String, Value>) -> f64 {
    let truth = |one: bool| if one { 1.0 } else { 0.0 };
    match slot {
        Slot::Constant => 1.0,
        Slot::Missing(name) => truth(!values.contains_key(name)),
        Slot::Level(name, level) => {
            truth(matches!(values.get(name), Some(Value::Word(word)) if word == level))
        }
        Slot::Others(name) => match values.get(name) {
            Some(Value::Word(word)) => {
                let same = |one: &Slot| matches!(one, Slot::Level(of, level) if of == name && level == word);
                truth(!slots.iter().any(same))
            }
            _ => 0.0,
        },
        Slot::Scaled(kind, name, centre, spread) => match values.get(name) {
            Some(Value::Number(number)) => {
                let number = match (kind.as_str(), *number < 0.0) {
                    ("log", false) => number.ln_1p(),
                    ("log", true) => -(-number).ln_1p(),
                    _ => *number,
                };
                let score = (number - centre) / spread;
                if kind == "square" {
                    let z = score.abs().min(3.0);
                    return z * z - 1.0;
                }
                score.clamp(-10.0, 10.0)
            }
            _ => 0.0,
        },
    }
}

/// How many points every arm has in a context.
fn points_in(document: &Document, contexts: &Contexts, context: &Json) -> Outcome<Vec<f64>> {
    let values = values(&contexts.names, context)?;
    let arms = document.arms.len();
    let mut scores = vec![0i64; contexts.draws * arms];
    for (at, slot) in contexts.slots.iter().enumerate() {
        let x = (65536.0 * slot_value(slot, &contexts.slots, &values) + 0.5).floor() as i64;
        let own = &contexts.coefficients[at * scores.len()..(at + 1) * scores.len()];
        for (score, coefficient) in scores.iter_mut().zip(own) {
            *score += x * coefficient;
        }
    }
    let taking: Vec<usize> = (0..arms).filter(|arm| Some(*arm) != contexts.settled).collect();
    let mut shares = vec![0.0; arms];
    for (number, draw) in scores.chunks(arms).enumerate() {
        let Some(largest) = taking.iter().map(|arm| draw[*arm]).max() else { break };
        let best: Vec<&usize> = taking.iter().filter(|arm| draw[**arm] == largest).collect();
        shares[*best[number % best.len()]] += 1.0;
    }
    let mut leader = *taking.first().ok_or("no arm takes part")?;
    for arm in &taking {
        leader = if shares[*arm] > shares[leader] { *arm } else { leader };
    }
    cap(contexts, &taking, leader, &mut shares);
    let most = shares.iter().copied().fold(0.0, f64::max);
    leader = shares.iter().position(|share| *share == most).unwrap_or(leader);
    let mut points: Vec<f64> = document.floors.iter().map(|floor| (floor * POINTS).floor()).collect();
    let rest = POINTS - points.iter().sum::<f64>();
    let total: f64 = shares.iter().sum();
    for arm in 0..arms {
        points[arm] += (shares[arm] / total * rest).floor();
    }
    points[leader] += POINTS - points.iter().sum::<f64>();
    Ok(points)
}

fn cap(contexts: &Contexts, taking: &[usize], leader: usize, shares: &mut [f64]) {
    let (most, many) = (contexts.most, taking.len() as f64);
    if most >= 1.0 || taking.len() < 2 {
        return;
    }
    if most * many <= 1.0 {
        taking.iter().for_each(|arm| shares[*arm] = 1.0);
        return;
    }
    match contexts.control {
        Some(control) if control != leader && taking.contains(&control) => {
            let least = shares[leader] * (1.0 - most) / most;
            shares[control] = shares[control].max(least);
        }
        _ => {
            let kept = most * contexts.draws as f64;
            if shares[leader] > kept {
                let more = (shares[leader] - kept) / (many - 1.0);
                taking.iter().for_each(|arm| shares[*arm] += more);
                shares[leader] = kept;
            }
        }
    }
}

/// The points of arms in the first leaf that a context belongs to.
fn points_in_leaves(tree: &Json, context: &Json) -> Outcome<Vec<f64>> {
    let Json::Map(names) = tree.of("names") else {
        return Err("names are a map".into());
    };
    let values = values(names, context)?;
    for leaf in tree.of("leaves").list()? {
        let mut takes = true;
        for test in leaf.of("where").list()? {
            let parts = test.list()?;
            let value = values.get(parts[0].text()?);
            let passes = match (value, &parts[2]) {
                (Some(Value::Number(number)), Json::Number(_)) => *number < parts[2].float()?,
                (Some(Value::Word(word)), Json::Text(text)) => word == text,
                _ => false,
            };
            takes = takes && passes != parts[1].text()?.contains("not");
        }
        if takes {
            return leaf.of("points").list()?.iter().map(Json::float).collect();
        }
    }
    Err("no leaf is for this context".into())
}

/// The point of a unit, or none if it takes no part.
fn point(document: &Document, name: &str) -> Outcome<Option<f64>> {
    let growthbook = |seed: &str, version: i64| match version {
        1 => (hashes::fnv(&format!("{name}{seed}")) % 1_000, 1_000),
        _ => (hashes::fnv(&hashes::fnv(&format!("{seed}{name}")).to_string()) % 10_000, 10_000),
    };
    let within = |ranges: &Json, at: f64| -> Outcome<bool> {
        for range in ranges.list()? {
            let ends = range.list()?;
            if ends[0].float()? <= at && at < ends[1].float()? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let assigner = &document.assigner;
    if *assigner == Json::Null {
        let text = [document.salt.as_bytes(), &[0], name.as_bytes()].concat();
        return Ok(Some(f64::from(hashes::blake2s(&text))));
    }
    match assigner.of("by").text()? {
        "growthbook" => {
            for filter in check::some(assigner, "filters")? {
                let version = filter.of("hash_version").whole()?;
                let (point, points) = growthbook(filter.of("seed").text()?, version);
                if !within(filter.of("ranges"), f64::from(point) / f64::from(points))? {
                    return Ok(None);
                }
            }
            let version = check::or(assigner, "hash_version", 2)?;
            Ok(Some(f64::from(growthbook(&document.salt, version).0)))
        }
        "eppo" => {
            let shards = check::or(assigner, "shards", 10_000)? as u32;
            let shard = |salt: &str| f64::from(hashes::md5(format!("{salt}-{name}").as_bytes()) % shards);
            for entry in check::some(assigner, "traffic")? {
                if !within(entry.of("ranges"), shard(entry.of("salt").text()?))? {
                    return Ok(None);
                }
            }
            Ok(Some(shard(&document.salt)))
        }
        by => Err(format!("units of {by} fall on no known points")),
    }
}

/// The arm of a unit and its chance; none if it takes no part.
fn assign(document: &Document, unit: &Json, context: &Json) -> Outcome<Option<(usize, f64)>> {
    let Some(point) = point(document, &name_of(unit)?)? else {
        return Ok(None);
    };
    if (document.contexts.is_some() || document.tree.has("leaves")) && *context != Json::Null {
        let points = match &document.contexts {
            Some(contexts) => points_in(document, contexts, context)?,
            None => points_in_leaves(&document.tree, context)?,
        };
        let all = points.iter().sum::<f64>();
        let mut end = 0.0;
        for (arm, own) in points.iter().enumerate() {
            end += own;
            if point < end {
                return Ok(Some((arm, own / all)));
            }
        }
        return Err("the points of arms do not reach the end".into());
    }
    let (mut start, mut all) = (0.0, 0.0);
    let (mut found, mut own) = (None, vec![0.0; document.arms.len()]);
    for (end, arm) in &document.cuts {
        if found.is_none() && point < *end {
            found = Some(*arm);
        }
        if *arm >= 0 {
            own[*arm as usize] += end - start;
            all += end - start;
        }
        start = *end;
    }
    match found {
        Some(arm) if arm >= 0 => Ok(Some((arm as usize, own[arm as usize] / all))),
        Some(_) => Ok(None),
        None => Err("the cuts do not reach the end".into()),
    }
}

fn answer(line: &str, known: &mut Outcome<Document>) -> Outcome<Option<String>> {
    let given = json::read(line)?;
    if given.has("document") {
        *known = document(given.of("document"));
        return Ok(None);
    }
    let document = known.as_ref().map_err(String::clone)?;
    let found = assign(document, given.of("unit"), given.of("context"))?;
    Ok(Some(match found {
        None => "{\"outside\": true}".into(),
        Some((arm, chance)) => format!(
            "{{\"arm\": {}, \"chance\": {:?}, \"version\": {}}}",
            json::write(&document.arms[arm]),
            chance,
            json::write(&document.version)
        ),
    }))
}

fn main() {
    let mut known = Err("there is no document yet".to_string());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("standard input is UTF-8");
        let told = match answer(&line, &mut known) {
            Ok(None) => continue,
            Ok(Some(told)) => told,
            Err(why) => format!("{{\"refused\": {}}}", json::quoted(&why)),
        };
        writeln!(out, "{told}").expect("standard output is open");
    }
}
