//! Modules that a trial knows before it loads them, as its fork server has learned them from other trials
//! ([`crate::trial::fork_server::lessons`]).

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_injector::collect_sites::{SiteTable, collect_sites};
use bugaroo_ptx::ast::{Item, Module as Ast};
use bugaroo_ptx::types::Space;
use bugaroo_simulator::{Contents, DeviceConfig, LoadError, Memory, Needs, Program};

use crate::digest::Digest;
use crate::images::image::{Image, architecture};
use crate::trial::fork_server::lessons::{Lesson, Lessons};
use crate::trial::native::LoadedText;

/// What launches and reports have to know of a module's text.
#[derive(Clone, Debug)]
pub struct TextFacts {
    /// Its target architecture, as 75 for `sm_75`.
    pub target: i32,
    /// Bytes of constant memory.
    pub constants: u32,
    /// Its sites, where somebody wants to know them.
    pub table: Option<Arc<SiteTable>>,
}

impl TextFacts {
    /// Of this module.
    pub fn of(ast: &Ast, wants_table: bool) -> TextFacts {
        TextFacts {
            target: ast.targets.first().and_then(|target| architecture(target)).unwrap_or(0),
            constants: constants(ast),
            table: wants_table.then(|| Arc::new(collect_sites(ast))),
        }
    }
}

/// A module's program, and what launches of the program's own text have to know of it.
#[derive(Clone, Debug)]
pub struct KnownLoad {
    /// The program.
    pub program: Arc<Program>,
    /// The rest, where the orders want anything of it.
    pub native: Option<Rc<LoadedText>>,
}

/// All of them.
#[derive(Debug, Default)]
pub struct KnownModules {
    modules: Vec<KnownModule>,
    /// Where a trial tells what else it has loaded.
    lessons: Option<Lessons>,
}

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known(usize);

#[derive(Debug)]
struct KnownModule {
    image: Image<'static>,
    text: Arc<str>,
    digest: Digest,
    needs: Needs,
    facts: TextFacts,
    /// By where its variables lie: a program may load it more than once.
    loads: HashMap<Vec<u64>, (KnownLoad, Contents)>,
}

/// A module that is known, with its variables placed.
pub struct Found {
    /// Of the text.
    pub facts: TextFacts,
    /// Where the variables lie.
    pub addresses: Vec<u64>,
    /// The program for that, which may not be known.
    pub load: Option<KnownLoad>,
}

/// Whether trials want to know the sites of modules.
#[derive(Clone, Copy, Debug)]
pub struct TrialsWant {
    /// Somebody does.
    pub table: bool,
    /// Launches do.
    pub native: bool,
}

impl KnownModules {
    /// Makes ready to learn from trials that are forked from here on.
    pub fn open(&mut self) {
        self.lessons = Lessons::new();
    }

    /// Tells the server of a module that was loaded.
    pub fn tell(&self, image: &Image<'_>, program: &Program) {
        if let Some(lessons) = &self.lessons
            && let Some(image) = image.to_bytes()
        {
            lessons.tell(Lesson { image: &image, addresses: program.allocations() });
        }
    }

    /// Takes in what trials have told; whether that was anything.
    pub fn learn(&mut self, config: &DeviceConfig, wants: TrialsWant) -> bool {
        let Some(mut lessons) = self.lessons.take() else { return false };
        let mut learned = false;
        lessons.take(|lesson| learned |= self.learn_one(lesson, config, wants).is_some());
        self.lessons = Some(lessons);
        learned
    }

    fn learn_one(&mut self, lesson: Lesson<'_>, config: &DeviceConfig, wants: TrialsWant) -> Option<()> {
        let image = Image::from_bytes(lesson.image)?;
        let known = self.find(&image);
        if known.is_some_and(|Known(at)| self.modules[at].loads.contains_key(lesson.addresses)) {
            return None;
        }
        // The trial has loaded the same.
        let text: Arc<str> = image.ptx(config.compute_capability).ok()?.into();
        let ast = bugaroo_ptx::parse(&text).ok()?;
        let (program, contents) = Program::load_at(&ast, lesson.addresses, config).ok()?;
        let program = Arc::new(program);
        let Known(at) = known.unwrap_or_else(|| {
            self.modules.push(KnownModule {
                image,
                digest: Digest::of(text.as_bytes()),
                text,
                needs: Program::needs(&ast),
                facts: TextFacts::of(&ast, wants.table),
                loads: HashMap::new(),
            });
            Known(self.modules.len() - 1)
        });
        let known = &mut self.modules[at];
        let table = known.facts.table.clone().filter(|_| wants.native);
        let native = table.map(|table| Rc::new(LoadedText::new(&program, table)));
        known.loads.insert(lesson.addresses.to_vec(), (KnownLoad { program, native }, contents));
        Some(())
    }

    /// The module of this image, if it is known.
    pub fn find(&self, image: &Image<'_>) -> Option<Known> {
        self.modules.iter().position(|known| known.image == *image).map(Known)
    }

    /// Its text, and the digest of that.
    pub fn text(&self, Known(at): Known) -> (Arc<str>, Digest) {
        (Arc::clone(&self.modules[at].text), self.modules[at].digest)
    }

    /// Places its variables.
    ///
    /// # Errors
    /// When the device has no room for them.
    pub fn place(&self, Known(at): Known, memory: &mut Memory) -> Result<Found, LoadError> {
        let known = &self.modules[at];
        let addresses = known.needs.place(memory)?;
        let load = match known.loads.get(&addresses) {
            None => None,
            Some((load, contents)) => {
                contents.write(memory)?;
                Some(load.clone())
            }
        };
        Ok(Found { facts: known.facts.clone(), addresses, load })
    }
}

/// Bytes of a module's constant memory.
fn constants(ast: &Ast) -> u32 {
    let size = |item: &Item| match item {
        Item::Variable(variable) if variable.space == Space::Const => variable.size(),
        _ => 0,
    };
    u32::try_from(ast.items.iter().map(size).sum::<u64>()).unwrap_or(u32::MAX)
}
