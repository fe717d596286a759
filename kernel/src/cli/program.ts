import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { exitCodes, renderError, UsageError, type CommandContext } from "./command.ts";
import type { CliPorts } from "./ports.ts";
import { manyLines } from "./render/foreign.ts";
import { Terminal } from "./terminal.ts";

/**
 * The command line. Every command loads its code when it is called, so that `lares serve` starts with nothing but
 * this. The exit code is left in `process.exitCode`: 0 well, 1 findings or failed, 2 wrong usage.
 */
export function createProgram(ports: CliPorts): Command {
  const program = new Command("lares")
    .description("Agents that watch a folder, remember, and propose. You approve, and can undo.")
    .version(ports.version, "-V, --version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .showSuggestionAfterError()
    .showHelpAfterError("(lares --help lists the commands)")
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .exitOverride();
  addRun(program, ports);
  addCheck(program, ports);
  addInspection(program, ports);
  addNew(program, ports);
  addTest(program, ports);
  addServe(program, ports);
  program.addHelpText(
    "after",
    examples([
      ["lares run", "open this folder, see what its agents do, decide on what they propose"],
      ["lares run examples/library --trust", "try it on an example"],
      ["lares new photo-sorter", "write an agent of your own"],
      ["lares actions undo 5c1f9e20", "take back what an agent did"],
    ]),
  );
  return program;
}

/** Parses and runs; the exit code. */
export async function runProgram(program: Command, argv: readonly string[]): Promise<number> {
  try {
    await program.parseAsync([...argv], { from: "user" });
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version are what was asked for; everything else was written wrongly.
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
}

/** Runs a command's body: its errors become a sentence and an exit code, the terminal is left as it was found. */
async function execute(ports: CliPorts, body: (context: CommandContext) => Promise<number>): Promise<void> {
  using terminal = new Terminal();
  try {
    process.exitCode = await body({ ports, terminal });
  } catch (error) {
    terminal.status(null);
    // An interrupted request fails, and that is what was wanted.
    if (terminal.interrupted.aborted) process.exitCode = 130;
    else {
      terminal.warn(renderError(error, terminal));
      if (process.env["LARES_DEBUG"] && error instanceof Error) terminal.warn(manyLines(error.stack ?? ""));
      process.exitCode = error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
    }
  }
}

const json = (): Option => new Option("--json", "print JSON for programs");

function addRun(program: Command, ports: CliPorts): void {
  program
    .command("run")
    .description("open a folder, see its agents work, decide on proposals")
    .argument("[folder]", "the workspace", ".")
    .option("--trust", "accept what this workspace's documents ask for, as they are now")
    .addOption(
      new Option(
        "--approve <mode>",
        "who decides on proposals, as below; at a terminal ask, else policy",
      ).choices(["policy", "none", "all", "ask"]),
    )
    .option("--once", "end when nothing is left to do, with a summary")
    .option(
      "--timeout <duration>",
      "with --once: end after this long in any case, as in 90s or 1h (default: 10m)",
    )
    .option("--watch", "accept changed programs of accepted extensions as they are saved")
    .option("--in-place", "work on a bundled example itself, not on a copy")
    .addOption(json())
    .addHelpText(
      "after",
      `
Your own folder is opened where it is. A bundled example (a folder beneath examples/) is copied to a temporary
folder together with its state, and the copy is removed at the end, unless --in-place is given.

--approve  policy  the rules in lares.yaml decide; what they leave open stays pending
           none    as policy, and nothing is approved for its low impact alone
           all     approve every proposal, those that touch protected files too
           ask     show each proposal and ask

--watch is for writing an extension. What asks for more (a permission, a folder, a rule) still waits for your yes.

The last line of --once is "N agents, N events, N actions, N refusals"; the exit code is 0 also with actions pending.
Where agents still work when the time of --timeout is over, it names them and ends with 1.
${examples([
  ["lares run", "this folder"],
  ["lares run ~/Pictures --trust --once", "one pass, for a script; rules decide"],
  ["lares run examples/library --trust --once --approve all", "all of it, on a copy of the example"],
])}`,
    )
    .action((folder: string, options: object) =>
      execute(ports, async (context) => (await import("./commands/run.ts")).run(context, folder, options)),
    );
}

function addCheck(program: Command, ports: CliPorts): void {
  program
    .command("check")
    .description("find faults in lares.yaml, extension.yaml and their TOML forms")
    .argument("[paths...]", "files or folders (default: this folder)")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]))
    .addOption(json())
    .option("--explain", "show every value of the configuration and where it came from")
    .addHelpText(
      "after",
      `
Prints file:line:column  code  message. Exits with 1 when there is an error.
${examples([
  ["lares check", "everything beneath this folder"],
  ["lares check --explain photos/", "why is this value what it is?"],
  ["lares check --format json | jq .findings", "for a script"],
])}`,
    )
    .action((paths: string[], options: object) =>
      execute(ports, async (context) => (await import("./commands/check.ts")).check(context, paths, options)),
    );
}

function addInspection(program: Command, ports: CliPorts): void {
  program
    .command("traces")
    .description("what the agents did, oldest first")
    .argument("[folder]", "the workspace", ".")
    .option("-f, --follow", "go on with what happens now")
    .option("--agent <id>", "of this agent only")
    .option("--level <level>", "debug, info, warn or error, and what is graver")
    .option("--since <time>", "30m, 1h, 7d, yesterday, monday, or a time in ISO 8601")
    .option("--text <text>", "with this in the message")
    .option("--limit <count>", "at most this many, the newest (default 100)")
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
    .description("what was proposed: list, show, approve, reject, undo")
    .usage("[folder] [list | show <id> | approve <id> | reject <id> | undo <id>] [options]")
    .argument("[words...]")
    .option("--state <state>", "list: only these, e.g. PendingApproval")
    .option("--agent <id>", "list: of this agent only")
    .option("--effects <numbers>", 'approve: only these effects, counted from 0, as in "0,2"')
    .option("--always", "approve: and the same change to the same paths from now on")
    .option("--reason <text>", "reject: why")
    .addOption(json())
    .addHelpText(
      "after",
      `
An id may be cut to its last characters, as the list shows it.
${examples([
  ["lares actions", "everything proposed here"],
  ["lares actions show 5c1f9e20", "one proposal with its diffs"],
  ["lares actions undo 5c1f9e20", "take it back, unless the files have changed since"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("./commands/actions.ts")).actions(context, words, options),
      ),
    );

  program
    .command("agents")
    .description("who runs here: list, enable, disable, suspend, resume, reload")
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
    .description("what agents have to do beside their events: list, cancel")
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

function addNew(program: Command, ports: CliPorts): void {
  program
    .command("new")
    .description("write an extension in TypeScript to start from")
    .argument("<name>", "its folder; in a workspace a bare name goes to .lares/extensions/")
    .option("--id <id>", "its id, as in com.example.photos (default: local.<name>)")
    .option("--template <language>", "what it is written in: ts", "ts")
    .addOption(json())
    .addHelpText("after", examples([["lares new photo-sorter --id com.example.photo-sorter", ""]]))
    .action((name: string, options: object) =>
      execute(ports, async (context) =>
        (await import("./commands/new.ts")).newExtension(context, name, options),
      ),
    );
}

function addTest(program: Command, ports: CliPorts): void {
  program
    .command("test")
    .description("check an extension and run its own tests")
    .argument("[folder]", "the extension", ".")
    .addHelpText(
      "after",
      `
Checks the manifest as lares check does, makes the program ready as a kernel would, and runs every *.test.ts in the
folder with Vitest. A vitest.config.* in the folder counts instead of what lares would set.
${examples([["lares test .lares/extensions/photo-sorter", "exits with 1 when anything fails"]])}`,
    )
    .action((folder: string) =>
      execute(ports, async (context) => (await import("./commands/test.ts")).testExtension(context, folder)),
    );
}

function addServe(program: Command, ports: CliPorts): void {
  program
    .command("serve")
    .description("speak the language server protocol, for editors")
    .option("--stdio", "over standard input and output")
    .option("--pipe <name>", "over a named pipe or local socket")
    .option("--clientProcessId <pid>", "end when this process is gone", processId)
    .option("--keep", "keep the kernel when the last client has left", false)
    .addHelpText("after", examples([["lares serve --stdio", "what an editor starts"]]))
    .action(async (options: { stdio?: boolean; pipe?: string; clientProcessId?: number; keep: boolean }) => {
      const { stdio = options.pipe === undefined, pipe, clientProcessId, keep } = options;
      process.exitCode = await ports.serve({
        stdio,
        keep,
        ...(pipe === undefined ? {} : { pipe }),
        ...(clientProcessId === undefined ? {} : { clientProcessId }),
      });
    });
}

function processId(text: string): number {
  const pid = Number(text);
  if (!Number.isInteger(pid) || pid < 1) throw new InvalidArgumentError("A process id is a whole number.");
  return pid;
}

function examples(list: readonly (readonly [command: string, what: string])[]): string {
  const width = Math.max(...list.map(([command]) => command.length));
  const lines = list.map(
    ([command, what]) => `  ${what === "" ? command : `${command.padEnd(width)}  # ${what}`}`,
  );
  return `\nExamples:\n${lines.join("\n")}\n`;
}
