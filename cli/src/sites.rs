//! `bugaroo sites`.

use bugaroo_harness::session::list_sites;
use bugaroo_harness::{Exit as AppExit, Interrupt, Settings, block_on};
use bugaroo_protocol::{Site, SiteKind};
use serde::Serialize;

use crate::args::{Format, SitesArgs};
use crate::exit::Exit;
use crate::output::{note, print, print_json, table};
use crate::{libraries, setup};

/// Lists the sites of a program.
pub fn sites(args: &SitesArgs) -> anyhow::Result<Exit> {
    let target = setup::target(&args.program)?;
    let library = libraries::find()?;
    let settings = Settings { timeout: args.timeout, input: setup::input()?, ..Settings::default() };
    let list = block_on(async {
        let interrupt = Interrupt::on_signals()?;
        anyhow::Ok(list_sites(target.clone(), settings, library, interrupt).await?)
    })??;
    if list.exit != AppExit::Code(0) {
        note(format_args!(
            "warning: the program failed ({}); these are the sites that it came to load",
            list.exit
        ));
    }
    match args.format {
        Format::Human => print(&human(&list.sites))?,
        Format::Json => {
            let app = target.app.to_str().unwrap_or_default();
            print_json(&Json { schema: 1, app, args: &target.args, sites: &list.sites })?;
        }
    }
    Ok(Exit::Clean)
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    app: &'a str,
    args: &'a [String],
    sites: &'a [Site],
}

fn human(sites: &[Site]) -> String {
    if sites.is_empty() {
        return "no sites\n".to_owned();
    }
    let header = ["id", "kind", "function", "space", "scope", "PTX line", "source line", "instruction"];
    table(&header, &[0, 5], sites.iter().map(row))
}

fn row(site: &Site) -> Vec<String> {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    vec![
        site.id.to_string(),
        kind(site.kind).to_owned(),
        site.function.clone(),
        or_dash(&site.space),
        or_dash(&site.scope),
        site.ptx_line.to_string(),
        or_dash(&site.source.as_ref().map(|source| format!("{}:{}", source.file, source.line))),
        site.instruction.split_whitespace().collect::<Vec<_>>().join(" "),
    ]
}

fn kind(kind: SiteKind) -> &'static str {
    match kind {
        SiteKind::Load => "load",
        SiteKind::Store => "store",
        SiteKind::Atomic => "atomic",
        SiteKind::Fence => "fence",
        SiteKind::Barrier => "barrier",
    }
}
