import { type Command, Option } from "commander";
import { execute, examples, json } from "./command-parts.ts";
import type { CliPorts } from "../ports.ts";

export function addMemory(program: Command, ports: CliPorts): void {
  const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];
  program
    .command("memory")
    .description("query, verify, measure, export, import, correct and forget what agents remember")
    .usage(
      "[folder] [verify [agent] | stats [agent] | query [agent] [words] | export [agent] <file> | import [agent] <file> | correct [agent] <id> <text> | forget [agent] <id>] [options]",
    )
    .argument("[words...]")
    .option("--agent <id>", "the agent; optional if only one has a memory")
    .option("--namespace <name>", "stats, query, verify, export: the shared memory of this name")
    .option("--all", "verify: all memories, including shared ones (the default)")
    .addOption(
      new Option("--kind <kind>", "query: the kind of memory; words alone are a search").choices([
        "history",
        "knowledge",
        "plan",
        "search",
        // Their names on the wire.
        "temporal",
        "associative",
        "working",
      ]),
    )
    .option("--variant <name>", "query: only this variant")
    .option("--since <time>", "query: events since this time: 7d, monday, or a time in ISO 8601")
    .option("--until <time>", "query: events before this time")
    .option("--text <words>", "query: events with these words")
    .option("--field <path>", "query: search for --text in this field only")
    .option("--where <condition>", "query: a.b=3, size>10, name~word, kind!=draft; can be repeated", collect)
    .option("--near <place>", "query: field=latitude,longitude,kilometres")
    .option("--similar <text>", "query: knowledge similar to this text")
    .option("--related <id>", "query: knowledge related to this item")
    .option("--depth <steps>", "query: the distance from --related, 1 to 5 (default 1)")
    .option("--limit <count>", "query: the maximum number of results, 1 to 1000")
    .addOption(new Option("--order <order>", "query: events by time").choices(["asc", "desc"]))
    .addOption(
      new Option("--mode <mode>", "query: how to search").choices(["auto", "text", "vector", "hybrid"]),
    )
    .option("--count", "query: count events instead of listing them")
    .addOption(new Option("--by <group>", "query: count events by group").choices(["variant", "hour", "day"]))
    .option("--force", "export: replace an existing file")
    .option("--head <hash>", "import: only a file with this head, which the export printed")
    .option("--yes", "import, correct, forget: do not ask for confirmation")
    .option("--reason <text>", "forget: the reason, which is recorded")
    .option("--copies", "forget: also copies of its text in conversations and elsewhere")
    .addOption(json())
    .addHelpText(
      "after",
      `
verify exits with 1 and names the first bad record if a hash chain is broken. An export is one file with the whole
chain; an import verifies every byte first, and needs an empty memory. Both print the head of the chain. Compare them:
only the head proves that a file is the memory that was exported.
${examples([
  ["lares memory verify", "verify the hash chain of every memory"],
  ['lares memory query dev.lares.storage "beach"', "search the whole memory of an agent"],
  ["lares memory query --since monday --text beach", "events since Monday that mention the beach"],
  ["lares memory query --by day --variant seen", "the number of events per day, as bars"],
  ["lares memory query --similar sunset --where 'rating>=4'", "similar knowledge with a condition"],
  ["lares memory export dev.lares.storage storage.lares", "write a memory to one file"],
  ["lares memory import dev.lares.storage storage.lares", "show the contents of a file, then ask"],
  ['lares memory correct dev.lares.steward <id> "I like short answers."', "replace what a mind remembers"],
  ["lares memory forget dev.lares.storage <id>", "delete the contents of a record permanently"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/memory.ts")).memory(context, words, options),
      ),
    );
}
