/**
 * The questions of LoCoMo (Maharana et al. 2024, github.com/snap-research/locomo, `data/locomo10.json`): ten long
 * conversations, and for each question the turns that answer it. CC BY-NC 4.0, so it is not in this repository:
 * `LARES_LOCOMO` names the file, or it lies at `test/bench/data/locomo10.json`.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The digest of the file with which the figures in README.md were measured. */
const knownSha256 = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4";

export interface Turn {
  /** The session that contains it: turns of one source follow each other. */
  readonly source: string;
  /** When it was said, ISO 8601, UTC; null if unknown. */
  readonly timestamp: string | null;
  /** "Speaker: what they said [what is on the picture they showed]" */
  readonly text: string;
}

export interface Conversation {
  readonly name: string;
  /** In their order. */
  readonly turns: readonly Turn[];
  readonly questions: readonly Question[];
}

export interface Question {
  readonly text: string;
  readonly category: string;
  readonly evidence: ReadonlySet<number>;
}

/** LoCoMo's kinds of questions. The fifth is adversarial: nothing in the conversation answers it. */
const categories: Readonly<Record<number, string>> = {
  1: "multi-hop",
  2: "temporal",
  3: "open",
  4: "single",
};

interface Sample {
  readonly sample_id: string;
  readonly conversation: Readonly<Record<string, unknown>>;
  readonly qa: readonly {
    readonly question: string;
    readonly evidence: readonly string[];
    readonly category: number;
  }[];
}
interface Said {
  readonly dia_id: string;
  readonly speaker: string;
  readonly text: string;
  readonly blip_caption?: string;
}

/** Returns null if the file does not exist. */
export function readConversations(say: (line: string) => void): Conversation[] | null {
  const path = process.env["LARES_LOCOMO"] ?? fileURLToPath(new URL("./data/locomo10.json", import.meta.url));
  if (!existsSync(path)) {
    say(`skipped: there is no ${path}. Put locomo10.json of github.com/snap-research/locomo there,`);
    say("or name it in LARES_LOCOMO. Its licence (CC BY-NC 4.0) keeps it out of this repository.");
    return null;
  }
  const bytes = readFileSync(path);
  if (createHash("sha256").update(bytes).digest("hex") !== knownSha256) {
    say(`${path} is another version than the figures in README.md were measured with.`);
  }
  return (JSON.parse(bytes.toString("utf8")) as Sample[]).map(converted);
}

function converted({ sample_id: name, conversation, qa }: Sample): Conversation {
  const turns: Turn[] = [];
  const places = new Map<string, number>();
  for (let session = 1; `session_${session}_date_time` in conversation; session += 1) {
    const timestamp = saidAt(String(conversation[`session_${session}_date_time`]));
    const said = (conversation[`session_${session}`] ?? []) as Said[];
    for (const { dia_id: id, speaker, text, blip_caption: picture } of said) {
      places.set(id, turns.length);
      turns.push({
        source: `session ${session}`,
        timestamp,
        text: `${speaker}: ${text}${picture === undefined ? "" : ` [${picture}]`}`,
      });
    }
  }
  const questions = qa.flatMap(({ question, evidence, category: number }): Question[] => {
    const category = categories[number];
    if (category === undefined) return [];
    // A few name several turns in one string, or have a leading zero, or name a turn that does not exist.
    const ids = evidence.flatMap((each) => each.match(/D\d+:\d+/g) ?? []).map((id) => id.replace(/:0+/, ":"));
    const found = new Set(ids.flatMap((id) => places.get(id) ?? []));
    return found.size === 0 ? [] : [{ text: question, category, evidence: found }];
  });
  return { name, turns, questions };
}

/** "1:56 pm on 8 May, 2023" as an ISO time. */
function saidAt(text: string): string | null {
  const [, hour, minute, half, day, month, year] =
    /^(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)$/.exec(text) ?? [];
  const at = new Date(`${month} ${day}, ${year} ${hour}:${minute} ${half} UTC`);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
