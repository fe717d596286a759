import type { Command } from "commander";
import { examples, execute, json } from "./command-parts.ts";
import type { CliPorts } from "../ports.ts";

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** Adds the commands that pack, install and remove extensions. */
export function addPackages(program: Command, ports: CliPorts): void {
  program
    .command("pack")
    .description("pack an extension into one signed file that others can install")
    .argument("[folder]", "the extension", ".")
    .option("-o, --output <file>", "the file or folder to write to (default: <id>-<version>.lares here)")
    .option("--key <name>", "the key to sign with, if you have several")
    .addOption(json())
    .addHelpText(
      "after",
      `
In the file are the manifest, the bundled program, the texts of a mind, README and licence. The same sources and key make
the same bytes on every machine. Needs a key; lares keys new makes one.
${examples([
  ["lares pack", "pack the extension in this folder"],
  ["lares pack photos -o /srv/extensions", "write it to another folder"],
])}`,
    )
    .action((folder: string, options: object) =>
      execute(ports, async (context) => (await import("../commands/pack.ts")).pack(context, folder, options)),
    );

  program
    .command("keys")
    .description("make and list the keys with which you sign packages")
    .usage("[list | new [name] | export [name]] [options]")
    .argument("[words...]")
    .addOption(json())
    .addHelpText(
      "after",
      `
Whoever installs an extension of yours pins your key: updates have to be signed with the same one. The private key is
encrypted like a secret and never printed. export prints the public key, for an index or a web page.
${examples([
  ["lares keys new", "make a key"],
  ["lares keys", "list names and fingerprints"],
  ["lares keys export", "print the public key"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) => (await import("../commands/keys.ts")).keys(context, words, options)),
    );

  program
    .command("install")
    .description("install an extension: verify, show, ask, start")
    .argument("<package>", "a package's file, a folder, an address, npm:<name>, or an id with --from")
    .option("--from <index>", "the index in which the id is looked up: a file, a folder or an address")
    .option("--locations <folders>", "the folders that it may see, separated by commas (default: all)")
    .option("--deny <permission>", "do not allow this permission; can be repeated", collect)
    .option("--yes", "do not ask, and allow everything that it requests, except --deny")
    .option("--workspace", "install it into this workspace instead of your own extensions")
    .option("--accept-new-publisher", "accept that another publisher signed it than before")
    .option("--downgrade", "accept an older version than the installed one")
    .option("--dry-run", "verify and show it, and install nothing")
    .option("--accept <sha256>", "install exactly this package without asking; it is allowed nothing yet")
    .addOption(json())
    .addHelpText(
      "after",
      `
Verifies every byte before anything is written. Shows who signed it, what it requests and which hosts it may reach, and
the change of lares.yaml in this folder; then asks what it may do. The publisher of the first version is pinned. A program
that asks the person itself takes what --dry-run --json prints, and the digest in it for --accept.
${examples([
  ["lares install com.example.photos-1.0.0.lares", "from a file"],
  ["lares install com.example.photos --from https://example.com/lares/index.json", "from an index"],
  ["lares install npm:example-photos --locations photos", "from npm, with access to one folder"],
  ["lares install photos.lares --yes --deny write_tags", "in a script"],
])}`,
    )
    .action((reference: string, options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/install.ts")).install(context, reference, options),
      ),
    );

  program
    .command("update")
    .description("update installed extensions from where they came from, or from an index")
    .argument("[id]", "the extension (default: all)")
    .option("--from <index>", "an index: a file, a folder or an address")
    .option("--yes", "do not ask; an update that requests more is held back")
    .option("--accept-new-publisher", "accept that another publisher signed it than before")
    .option("--dry-run", "show what is newer, and install nothing")
    .option("--accept <sha256>", "install exactly this package of one extension without asking")
    .addOption(json())
    .addHelpText(
      "after",
      `
Shows each newer version with what it requests beyond the installed one, and asks. What you allowed before is allowed to
the new version too; what it requests beyond that is asked. Exits with 3 if an update is held back.
${examples([
  ["lares update", "all extensions that came from an index, an address or npm"],
  ["lares update com.example.photos --from https://example.com/lares/index.json", "one, from this index"],
])}`,
    )
    .action((id: string | undefined, options: object) =>
      execute(ports, async (context) => (await import("../commands/update.ts")).update(context, id, options)),
    );

  program
    .command("search")
    .description("search an index for extensions")
    .argument("<text...>", "words that the id, name, description or permissions have")
    .option("--from <index>", "the index: a file, a folder with an index.json, or an address")
    .addOption(json())
    .addHelpText(
      "after",
      `
An index is a static file that anyone can host; schemas/index.schema.json describes it. What it says of an extension is
compared with the package when that is installed, and what it says of permissions is not believed.
${examples([["lares search photos --from https://example.com/lares/index.json", "extensions about photos"]])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/update.ts")).search(context, words, options),
      ),
    );

  program
    .command("list")
    .description("list installed extensions, and whether their files were changed since")
    .addOption(json())
    .addHelpText(
      "after",
      `
Exits with 1 if a file of an extension is not as its publisher signed it.
${examples([["lares list", "your own extensions, and those of this workspace"]])}`,
    )
    .action((options: object) =>
      execute(ports, async (context) => (await import("../commands/installed.ts")).list(context, options)),
    );

  program
    .command("remove")
    .description("remove an installed extension; what it remembers stays")
    .argument("<id>", "the extension, as lares list names it")
    .option("--forget", "also delete what it remembers, in all workspaces")
    .option("--yes", "do not ask for confirmation")
    .option("--dry-run", "show what would be removed, and where its memories are, and remove nothing")
    .addOption(json())
    .addHelpText(
      "after",
      examples([
        ["lares remove com.example.photos", "remove it, and its entry in the lares.yaml of this folder"],
        ["lares remove com.example.photos --forget", "and everything that it remembers"],
      ]),
    )
    .action((id: string, options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/installed.ts")).remove(context, id, options),
      ),
    );
}
