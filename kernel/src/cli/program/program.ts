import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { exitCodes } from "../command.ts";
import { addChat } from "./chat-commands.ts";
import { examples, execute, json } from "./command-parts.ts";
import { addInspection, addModels } from "./inspection-commands.ts";
import { cardKeyList } from "../keyboard/card-keys.ts";
import { addNotifications } from "./notification-commands.ts";
import { addOfferedCommands } from "./offered-commands.ts";
import { addPackages } from "./package-commands.ts";
import { wrap } from "../render/width.ts";
import { endWithOutput } from "../lost-output.ts";
import type { CliPorts } from "../ports.ts";

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
    .configureOutput({ writeOut: (text) => void process.stdout.write(fitted(text, process.stdout.columns)) })
    .exitOverride();
  addRun(program, ports);
  addChat(program, ports);
  addOfferedCommands(program, ports);
  addReview(program, ports);
  addPermissions(program, ports);
  addCheck(program, ports);
  addInspection(program, ports);
  addNotifications(program, ports);
  addModels(program, ports);
  addNew(program, ports);
  addPackages(program, ports);
  addTest(program, ports);
  addPlayground(program, ports);
  addConformance(program, ports);
  addServe(program, ports);
  // Commands would inherit the program's hint, which does not show their options.
  for (const command of program.commands)
    command.showHelpAfterError(`(lares ${command.name()} --help shows its options)`);
  program.addHelpText("after", `\nKeys of cards, the same everywhere:\n${cardKeyLines()}`);
  program.addHelpText(
    "after",
    examples([
      ["lares run", "run the agents of this folder, and decide on their proposals"],
      ["lares chat", "talk about this folder"],
      ["lares run examples/library --trust", "try it on an example"],
      ["lares new photo-sorter", "create an extension"],
      ["lares actions undo 5c1f9e20", "undo a change"],
    ]),
  );
  return program;
}

function cardKeyLines(): string {
  return cardKeyList.map(([key, words]) => `  ${key.padEnd(6)}  ${words}`).join("\n");
}

/** Breaks lines that are wider than the terminal between words, and indents what follows like their beginning. */
export function fitted(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  return text
    .split("\n")
    .flatMap((line) => {
      const [indent = ""] = /^ */.exec(line) ?? [];
      if (line.length <= columns || indent.length > columns / 2) return [line];
      return wrap(line.slice(indent.length), columns - indent.length).map((part) => `${indent}${part}`);
    })
    .join("\n");
}

/** Parses and runs the command line; returns the exit code. */
export async function runProgram(program: Command, argv: readonly string[]): Promise<number> {
  // A front decides itself what the end of its channel means.
  if (argv[0] !== "serve") endWithOutput(process.stdout, process.stderr);
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
    .description("run the agents of a folder, and decide on their proposals")
    .argument("[folder]", "the workspace", ".")
    .option("--trust", "accept everything that this workspace's documents request now")
    .option(
      "--grant <what...>",
      "allow only this: an extension's id, with =permissions and @folders for a part",
    )
    .addOption(
      new Option(
        "--approve <mode>",
        "who decides on proposals, see below (default: ask at a terminal, else policy)",
      ).choices(["policy", "none", "all", "ask"]),
    )
    .option("--once", "exit with a summary when nothing is left to do")
    .option("--timeout <duration>", "with --once: the maximum duration, such as 90s or 1h (default: 10m)")
    .option("--watch", "accept changed programs of accepted extensions whenever they are saved")
    .option("--inspect", "show each event, host call and result of the agents, see below")
    .option("--in-place", "work on a bundled example itself, not on a copy")
    .addOption(json())
    .addHelpText(
      "after",
      `
Your own folder is opened where it is. A bundled example (a folder beneath examples/) is copied to a temporary
folder together with its state, and the copy is removed at the end, unless --in-place is given.

--approve  policy  the rules in lares.yaml decide; all other proposals stay pending
           none    like policy, but never approve a proposal because of its low impact
           all     approve every proposal, including changes of protected files
           ask     show each proposal and ask

--watch is for developing an extension. New requests (a permission, a folder, a rule) still wait for your consent.

--inspect is for finding an error in an extension. It shows each event that an agent gets, the host calls of its handler with
arguments, results and times, and how the handler ended, with the line of a failure. Long values are cut, and secrets are
replaced as in all traces. At a terminal, Enter shows the next step, c everything up to the next event, and q quits. The
agents do not wait meanwhile: you step through what has happened, and there are no breakpoints. In a pipe, or with --json,
each step is a line of JSON, a "trace" whose step is "begin", "call" or "end". The steps are also stored in the traces.

The last line of --once is "N agents, N events, N actions, N refusals". The exit code is 0 even if actions are pending,
and 1 if errors in documents or programs kept an agent from running, or if agents are still working after --timeout; the
output then names them.
${examples([
  ["lares run", "run the agents of this folder"],
  ["lares run ~/Pictures --trust --once", "one pass in a script; rules decide"],
  ["lares run --inspect", "step through what the agents do"],
  ["lares run --grant dev.lares.storage=read_entries@photos", "one agent with access to one folder"],
  ["lares run examples/library --trust --once --approve all", "approve everything, in a copy of the example"],
])}`,
    )
    .action((folder: string, options: object) =>
      execute(ports, async (context) => (await import("../commands/run.ts")).run(context, folder, options)),
    );
}

function addPermissions(program: Command, ports: CliPorts): void {
  program
    .command("permissions")
    .description("show and change the permissions of the agents of a folder")
    .argument("[folder]", "the workspace", ".")
    .option("--grant <what...>", "allow only this, see below")
    .option("--revoke", "revoke everything that was allowed")
    .addOption(json())
    .addHelpText(
      "after",
      `
At a terminal, this command asks; the permissions that are allowed now are ticked. Space ticks or unticks, Enter allows
exactly the ticked ones, p shows a program. Enter with nothing ticked revokes all permissions; if none were allowed, it
changes nothing. Without a terminal, the command only shows the permissions, unless --grant or --revoke is given.

--grant  <id>                      everything that this extension requests
         <id>=<permission>,…       only these permissions
         <id>@<folder>,…           only these folders, each inside one that it requests
         lares.yaml                everything that the document itself requests
${examples([
  ["lares permissions", "show and change them"],
  ["lares permissions --grant dev.lares.notes", "allow everything that Notes requests, and no other agent"],
  [
    "lares permissions --grant dev.lares.storage=read_entries@photos,letters",
    "one permission in two folders",
  ],
])}`,
    )
    .action((folder: string, options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/permissions.ts")).permissions(context, folder, options),
      ),
    );
}

function addReview(program: Command, ports: CliPorts): void {
  program
    .command("review")
    .description("decide on waiting proposals, in full screen")
    .argument("[folder]", "the workspace", ".")
    .addHelpText(
      "after",
      `
Shows the proposals that wait for you with all of their changes: approve, reject with a reason, edit first, take parts,
remember an answer, undo. No file changes before you approve it, and undecided proposals keep waiting when you quit.
Press ? to see all keys. e opens the editor that VISUAL or EDITOR names. NO_COLOR turns colours off.

Needs a terminal. In a script use "lares actions".
${examples([["lares review ~/Pictures", "decide on the proposals for this folder"]])}`,
    )
    .action((folder: string) =>
      execute(ports, async (context) => (await import("../commands/review.ts")).review(context, folder)),
    );
}

function addCheck(program: Command, ports: CliPorts): void {
  program
    .command("check")
    .description("find errors in lares.yaml, extension.yaml and their TOML forms")
    .argument("[paths...]", "files or folders (default: this folder)")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]))
    .addOption(json())
    .option(
      "--explain",
      "show each configuration value with its source, and the paths that are asked each time",
    )
    .addHelpText(
      "after",
      `
Prints file:line:column  code  message. Exits with 1 if there is an error.
${examples([
  ["lares check", "check all documents beneath this folder"],
  ["lares check --explain photos/", "see where each value is set"],
  ["lares check --format json | jq .findings", "for a script"],
])}`,
    )
    .action((paths: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/check.ts")).check(context, paths, options),
      ),
    );
}

function addNew(program: Command, ports: CliPorts): void {
  program
    .command("new")
    .description("create an extension in TypeScript, AssemblyScript, C, Go or Rust, or a mind without code")
    .argument("<name>", "its folder; in a workspace, a plain name means a folder in .lares/extensions/")
    .option("--id <id>", "its id, such as com.example.photos (default: local.<name>)")
    .option(
      "--template <language>",
      "what it is made of: ts, assemblyscript, c, go, rust, or mind for one without code",
      "ts",
    )
    .addOption(json())
    .addHelpText(
      "after",
      examples([
        ["lares new photo-sorter --id com.example.photo-sorter", "an extension in TypeScript"],
        ["lares new note-tags --template go", "one in Go, with what builds and tests it"],
        ["lares new librarian --template mind", "a mind that people talk to, made of texts alone"],
      ]),
    )
    .action((name: string, options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/new.ts")).newExtension(context, name, options),
      ),
    );
}

function addTest(program: Command, ports: CliPorts): void {
  program
    .command("test")
    .description("check an extension and run its tests")
    .argument("[folder]", "the extension", ".")
    .addHelpText(
      "after",
      `
Checks the manifest as lares check does, bundles the program as a kernel would, and runs every *.test.ts in the folder
with Vitest. A vitest.config.* in the folder replaces the default configuration.
${examples([["lares test .lares/extensions/photo-sorter", "exits with 1 if anything fails"]])}`,
    )
    .action((folder: string) =>
      execute(ports, async (context) => (await import("../commands/test.ts")).testExtension(context, folder)),
    );
}

function addPlayground(program: Command, ports: CliPorts): void {
  program
    .command("playground")
    .description("try the SDK and an extension, one line at a time")
    .argument("[extension]", "the folder of an extension to try")
    .option("--inspect", "show each event, host call and result of the agents")
    .option("--tensors <file>", "stand-ins for the extension's models, as JSON; needs onnxruntime-node")
    .addHelpText(
      "after",
      `
Starts a kernel on an empty workspace with a state and a configuration of its own, all of which are removed at the end. What you
type is TypeScript with ctx. It runs in the sandbox, as in a handler, in an agent that may read and propose everything there; a
value, traces, notifications and proposals are shown before the next line. Each input has names of its own: for more than one
statement, put braces around them. No language model is asked: .model TEXT says what one answers next.

Lines that begin with a dot are what others do: .write notes/a.md milk makes an event, .call TOOL {…} calls a tool of the
extension, .emit EVENT {…} emits one that it hears, .approve and .undo answer proposals. .help lists them.

Without a terminal, lines are read from standard input and printed too. The exit code is 1 if one failed.
${examples([
  ["lares playground", "try the SDK"],
  ["lares playground .lares/extensions/photo-sorter", "with an extension of yours"],
  ["lares playground . < session.txt", "a session in a script"],
])}`,
    )
    .action((name: string | undefined, options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/playground.ts")).playground(context, name, options),
      ),
    );
}

function addConformance(program: Command, ports: CliPorts): void {
  program
    .command("conformance")
    .description("try a program in any language against the guest ABI")
    .argument("[program]", "a .wasm file, or the folder of an extension", ".")
    .addOption(json())
    .addHelpText(
      "after",
      `
Starts the program in a sandbox of its own, as a kernel would, and tries each rule of the guest ABI (guest-abi.md) with it.
Each rule is printed with what was seen: ✓ it holds, ✗ it does not, – it does not apply or cannot be tried. No call of the
program reaches a folder, a model or the network: answers are made up.

Hooks and tools are called as the manifest beside the program names them; without a manifest, rules about them do not apply.
Exits with 1 if a rule does not hold. --json prints an array of { rule, title, status, detail }; the status is "holds",
"violated" or "not_applicable".
${examples([
  ["lares conformance .lares/extensions/photo-sorter", "an extension, with its manifest"],
  ["lares conformance build/agent.wasm --json", "a module alone, for a script"],
])}`,
    )
    .action((name: string, options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/conformance.ts")).conformance(context, name, options),
      ),
    );
}

function addServe(program: Command, ports: CliPorts): void {
  program
    .command("serve")
    .description("serve an editor through the language server protocol")
    .option("--stdio", "use standard input and output")
    .option("--pipe <name>", "use a named pipe or local socket")
    .option("--clientProcessId <pid>", "exit when this process ends", processId)
    .option("--keep", "keep the kernel running after its last client has disconnected", false)
    .addHelpText("after", examples([["lares serve --stdio", "the command that editors run"]]))
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
  if (!Number.isInteger(pid) || pid < 1)
    throw new InvalidArgumentError("Write a process id as a positive whole number.");
  return pid;
}
