/**
 * Prints how much of the corpus of secrets the scan finds, by class and by setting, and its false alarms:
 * `npm run leaks`. The same corpus each time; `LARES_SEED=7 npm run leaks` draws another one.
 */
import process from "node:process";
import { shippedScanner } from "../../kernel/src/secret-scan/redact.ts";
import { corpus } from "../../kernel/src/secret-scan/testing/corpus.ts";
import {
  alarmsInDocuments,
  alarmsInRepository,
  recallOf,
} from "../../kernel/src/secret-scan/testing/recall.ts";
import { seeded } from "../support/seed.ts";

const scanner = shippedScanner();
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const { found, of, lines } = recallOf(scanner, corpus(seeded()));
for (const line of lines) say(line);
say(`\n${found} of ${of} secrets found: ${((100 * found) / of).toFixed(1)} %`);

for (const [what, { files, alarms }] of [
  ["documents (installed packages' and this repository's)", alarmsInDocuments(scanner)],
  ["files of this repository", alarmsInRepository(scanner)],
] as const) {
  say(`${alarms.length} false alarms in ${files} ${what}`);
  for (const alarm of alarms) say(`  ${alarm}`);
  if (alarms.length > 0) process.exitCode = 1;
}
