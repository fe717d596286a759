import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { exitCodes } from "./command.ts";
import { examples, execute, json } from "./command-parts.ts";
import { addInspection, addModels } from "./inspection-commands.ts";
import type { CliPorts } from "./ports.ts";

/**
 * Creates the command line. Every command loads its code when it is called, so that `lares serve` starts with nothing
 * else. The exit code is left in `process.exitCode`: 0 for success, 1 for findings or a failure, 2 for wrong usage.
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
  addReview(program, ports);
  addPermissions(program, ports);
  addCheck(program, ports);
  addInspection(program, ports);
  addModels(program, ports);
  addNew(program, ports);
  addTest(program, ports);
  addServe(program, ports);
  // Commands would inherit the program's hint, which does not show their options.
  for (const command of program.commands)
    command.showHelpAfterError(`(lares ${command.name()} --help says how it is used)`);
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

/** Parses and runs the command line; returns the exit code. */
export async function runProgram(program: Command, argv: readonly string[]): Promise<number> {
  try {
    await program.parseAsync([...argv], { from: "user" });
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Printing help or the version is a success; everything else is wrong usage.
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
}

function addRun(program: Command, ports: CliPorts): void {
  program
    .command("run")
    .description("open a folder, see its agents work, decide on proposals")
    .argument("[folder]", "the workspace", ".")
    .option("--trust", "accept all that this workspace's documents ask for, as they are now")
    .option(
      "--grant <what...>",
      "allow only this, and withhold the rest: an extension's id, with =permissions and @folders for a part",
    )
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

The last line of --once is "N agents, N events, N actions, N refusals"; the exit code is 0 also with actions pending, and
1 where errors in documents or programs kept an agent from running.
Where agents still work when the time of --timeout is over, it names them and ends with 1.
${examples([
  ["lares run", "this folder"],
  ["lares run ~/Pictures --trust --once", "one pass, for a script; rules decide"],
  ["lares run --grant dev.lares.storage=read_entries@photos", "one agent, which may see one folder"],
  ["lares run examples/library --trust --once --approve all", "all of it, on a copy of the example"],
])}`,
    )
    .action((folder: string, options: object) =>
      execute(ports, async (context) => (await import("./commands/run.ts")).run(context, folder, options)),
    );
}

function addPermissions(program: Command, ports: CliPorts): void {
  program
    .command("permissions")
    .description("see and change what the agents of a folder may do")
    .argument("[folder]", "the workspace", ".")
    .option("--grant <what...>", "allow only this, and withhold the rest, as below")
    .option("--revoke", "take back everything that was allowed")
    .addOption(json())
    .addHelpText(
      "after",
      `
At a terminal it asks, with what is allowed now ticked: Space ticks, Enter allows what is ticked (its line says what that
is), d shows a program. Enter with nothing ticked is no answer, unless something was allowed before: that is taken back.
Elsewhere it only shows, unless --grant or --revoke says what to do.

--grant  <id>                      all that this extension asks for
         <id>=<permission>,…       only these permissions
         <id>@<folder>,…           only in these folders, which may lie inside those that it asks for
         lares.yaml                what the document asks for beside its extensions
${examples([
  ["lares permissions", "look at them, and change them"],
  ["lares permissions --grant dev.lares.notes", "Notes may do all that it asks for, and no other agent runs"],
  ["lares permissions --grant dev.lares.storage=read_entries@photos,letters", "a part"],
])}`,
    )
    .action((folder: string, options: object) =>
      execute(ports, async (context) =>
        (await import("./commands/permissions.ts")).permissions(context, folder, options),
      ),
    );
}

function addReview(program: Command, ports: CliPorts): void {
  program
    .command("review")
    .description("decide on what waits, on the whole screen")
    .argument("[folder]", "the workspace", ".")
    .addHelpText(
      "after",
      `
Shows what waits for you, with all that it would change: approve, reject with a reason, edit first, take parts of it,
remember an answer, undo. Nothing is written before you approve it, and what waits goes on waiting when you leave.
Press ? there for all keys. e opens the editor that VISUAL or EDITOR names. NO_COLOR turns colours off.

Needs a terminal. In a script use "lares actions".
${examples([["lares review ~/Pictures", "decide on what the agents there propose"]])}`,
    )
    .action((folder: string) =>
      execute(ports, async (context) => (await import("./commands/review.ts")).review(context, folder)),
    );
}

function addCheck(program: Command, ports: CliPorts): void {
  program
    .command("check")
    .description("find faults in lares.yaml, extension.yaml and their TOML forms")
    .argument("[paths...]", "files or folders (default: this folder)")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]))
    .addOption(json())
    .option(
      "--explain",
      "show every value of the configuration and where it came from, and what is asked each time",
    )
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
