//! What a final state is made of: registers and locations.

use crate::cursor::Cursor;
use crate::error::Problem;
use crate::key::OutcomeKey;
use crate::test::Test;

impl OutcomeKey {
    /// Finds a key by how tables of outcomes name it: `P1:r0`, `1:r0`, `x`, `[x]`.
    pub fn named(name: &str, test: &Test) -> Option<OutcomeKey> {
        let mut cursor = Cursor::new(name);
        let key = OutcomeKey::parse(&mut cursor, test).ok()?;
        cursor.skip_blanks();
        cursor.is_at_end().then_some(key)
    }

    /// Its name.
    pub fn name(self, test: &Test) -> String {
        match self {
            OutcomeKey::Register { thread, register } => {
                format!("P{thread}:{}", test.threads[thread].registers[register].name)
            }
            OutcomeKey::Location(location) => test.locations[location].name.clone(),
        }
    }

    /// The bits that it has.
    pub fn mask(self, test: &Test) -> u64 {
        let wide = match self {
            OutcomeKey::Register { thread, register } => test.threads[thread].registers[register].wide,
            OutcomeKey::Location(location) => test.locations[location].bytes == 8,
        };
        if wide { u64::MAX } else { u64::from(u32::MAX) }
    }

    pub(crate) fn parse(cursor: &mut Cursor<'_>, test: &Test) -> Result<OutcomeKey, Problem> {
        let at = cursor.skip_blanks();
        if cursor.take("[") {
            let name = cursor.name()?;
            cursor.expect("]")?;
            return location(at, name, test);
        }
        let word = cursor.name()?;
        if !cursor.take(":") {
            return location(at, word, test);
        }
        let thread = thread_number(word).filter(|thread| *thread < test.threads.len());
        let thread = thread.ok_or_else(|| Problem::syntax(at, format!("there is no thread {word}")))?;
        let name = cursor.name()?;
        let register = test.threads[thread].registers.iter().position(|register| register.name == name);
        let register = register
            .ok_or_else(|| Problem::syntax(at, format!("P{thread} has no register {name} that it uses")))?;
        Ok(OutcomeKey::Register { thread, register })
    }

    /// What a test's outcomes are told by when no table says it: what the condition speaks of, registers
    /// first; without a condition, everything.
    pub fn defaults(test: &Test) -> Vec<OutcomeKey> {
        let mut keys =
            test.condition.as_ref().map(|condition| condition.expression.keys()).unwrap_or_default();
        if keys.is_empty() {
            for (thread, of) in test.threads.iter().enumerate() {
                keys.extend(
                    (0..of.registers.len()).map(|register| OutcomeKey::Register { thread, register }),
                );
            }
            keys.extend((0..test.locations.len()).map(OutcomeKey::Location));
        }
        keys.sort();
        keys.dedup();
        keys
    }
}

fn location(at: usize, name: &str, test: &Test) -> Result<OutcomeKey, Problem> {
    let index = test.locations.iter().position(|location| location.name == name);
    index.map(OutcomeKey::Location).ok_or_else(|| Problem::syntax(at, format!("there is no location {name}")))
}

/// The number in `P1` or `1`.
pub(crate) fn thread_number(word: &str) -> Option<usize> {
    let digits = word.strip_prefix('P').unwrap_or(word);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
}
