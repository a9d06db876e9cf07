//! JSON as plain values. Numbers keep their text, since a whole number may name a unit.

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

pub type Outcome<T> = Result<T, String>;

impl Json {
    /// The value of a name, the last one if it is given twice; null where there is none.
    pub fn of(&self, name: &str) -> &Json {
        match self {
            Json::Map(pairs) => {
                let found = pairs.iter().rev().find(|pair| pair.0 == name);
                found.map_or(&Json::Null, |pair| &pair.1)
            }
            _ => &Json::Null,
        }
    }

    pub fn has(&self, name: &str) -> bool {
        matches!(self, Json::Map(pairs) if pairs.iter().any(|pair| pair.0 == name))
    }

    pub fn list(&self) -> Outcome<&[Json]> {
        match self {
            Json::List(found) => Ok(found),
            _ => Err("a list is wanted".into()),
        }
    }

    pub fn text(&self) -> Outcome<&str> {
        match self {
            Json::Text(found) => Ok(found),
            _ => Err("a text is wanted".into()),
        }
    }

    pub fn float(&self) -> Outcome<f64> {
        match self {
            Json::Number(text) => text.parse().map_err(|_| "a number is wanted".to_string()),
            _ => Err("a number is wanted".into()),
        }
    }

    /// A whole number that every language reads as it was written.
    pub fn whole(&self) -> Outcome<i64> {
        match self {
            Json::Number(text) if is_whole(text) => match text.parse::<i64>() {
                Ok(found) if found.abs() < 1 << 53 => Ok(found),
                _ => Err("a whole number below 2⁵³ is wanted".into()),
            },
            _ => Err("a whole number is wanted".into()),
        }
    }
}

/// Whether a number is written without a point and an exponent.
pub fn is_whole(text: &str) -> bool {
    text.bytes().all(|one| one.is_ascii_digit() || one == b'-')
}

/// Read one value; anything behind it is refused.
pub fn read(text: &str) -> Outcome<Json> {
    let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
    let found = reader.value(0)?;
    reader.space();
    if reader.at < reader.bytes.len() {
        return Err(format!("this is no JSON from byte {} on", reader.at));
    }
    Ok(found)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        *self.bytes.get(self.at).unwrap_or(&0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    fn wrong<T>(&self) -> Outcome<T> {
        Err(format!("this is no JSON at byte {}", self.at))
    }

    fn word(&mut self, word: &str, value: Json) -> Outcome<Json> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return self.wrong();
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Outcome<Json> {
        self.space();
        if depth > 100 {
            return Err("this is nested too deeply".into());
        }
        match self.peek() {
            b'n' => self.word("null", Json::Null),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'"' => Ok(Json::Text(self.string()?)),
            b'[' => self.items(depth),
            b'{' => self.pairs(depth),
            _ => self.number(),
        }
    }

    fn items(&mut self, depth: usize) -> Outcome<Json> {
        let mut found = Vec::new();
        self.at += 1;
        self.space();
        if self.peek() == b']' {
            self.at += 1;
            return Ok(Json::List(found));
        }
        loop {
            found.push(self.value(depth + 1)?);
            self.space();
            self.at += 1;
            match self.bytes.get(self.at - 1) {
                Some(b',') => {}
                Some(b']') => return Ok(Json::List(found)),
                _ => return self.wrong(),
            }
        }
    }

    fn pairs(&mut self, depth: usize) -> Outcome<Json> {
        let mut found = Vec::new();
        self.at += 1;
        self.space();
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(Json::Map(found));
        }
        loop {
            self.space();
            if self.peek() != b'"' {
                return self.wrong();
            }
            let name = self.string()?;
            self.space();
            if self.peek() != b':' {
                return self.wrong();
            }
            self.at += 1;
            found.push((name, self.value(depth + 1)?));
            self.space();
            self.at += 1;
            match self.bytes.get(self.at - 1) {
                Some(b',') => {}
                Some(b'}') => return Ok(Json::Map(found)),
                _ => return self.wrong(),
            }
        }
    }

    fn number(&mut self) -> Outcome<Json> {
        let start = self.at;
        while matches!(self.peek(), b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).unwrap();
        let digits = text.strip_prefix('-').unwrap_or(text);
            let leading = digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
        let begins = digits.as_bytes().first().is_some_and(u8::is_ascii_digit);
        if !begins || leading || digits.ends_with('.') || text.parse::<f64>().is_err() {
            return self.wrong();
        }
        Ok(Json::Number(text.to_string()))
    }

    fn string(&mut self) -> Outcome<String> {
        let mut found = String::new();
        self.at += 1;
        loop {
            let start = self.at;
            while !matches!(self.peek(), b'"' | b'\\' | 0..=31) {
                self.at += 1;
            }
            found.push_str(std::str::from_utf8(&self.bytes[start..self.at]).unwrap());
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok(found);
                }
                b'\\' => found.push(self.escaped()?),
                _ => return self.wrong(),
            }
        }
    }

    fn escaped(&mut self) -> Outcome<char> {
        self.at += 2;
        Ok(match self.bytes.get(self.at - 1).copied().unwrap_or(0) {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hex()?;
                let mut code = first;
                if (0xd800..0xdc00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let second = self.hex()?;
                    if !(0xdc00..0xe000).contains(&second) {
                        return Err("half a surrogate pair is no text".into());
                    }
                    code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                }
                char::from_u32(code).ok_or("half a surrogate pair is no text")?
            }
            _ => return self.wrong(),
        })
    }

    fn hex(&mut self) -> Outcome<u32> {
        let digits = self.bytes.get(self.at..self.at + 4).unwrap_or(b"?");
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return self.wrong();
        }
        self.at += 4;
        let text = std::str::from_utf8(digits).unwrap();
        u32::from_str_radix(text, 16).map_err(|error| error.to_string())
    }
}

/// A value as JSON text.
pub fn write(value: &Json) -> String {
    match value {
        Json::Null => "null".into(),
        Json::Bool(truth) => truth.to_string(),
        Json::Number(text) => text.clone(),
        Json::Text(text) => quoted(text),
        Json::List(items) => {
            let each: Vec<String> = items.iter().map(write).collect();
            format!("[{}]", each.join(","))
        }
        Json::Map(pairs) => {
            let each: Vec<String> =
                pairs.iter().map(|(name, one)| format!("{}:{}", quoted(name), write(one))).collect();
            format!("{{{}}}", each.join(","))
        }
    }
}

pub fn quoted(text: &str) -> String {
    let mut found = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => found.push_str("\\\""),
            '\\' => found.push_str("\\\\"),
            letter if (letter as u32) < 32 => found.push_str(&format!("\\u{:04x}", letter as u32)),
            letter => found.push(letter),
        }
    }
    found.push('"');
    found
}
