/**
 * The questions of XQuAD (Artetxe et al. 2020, github.com/google-deepmind/xquad), CC BY-SA 4.0: 48 articles of Wikipedia
 * and 1,190 questions, the same in twelve languages. `LARES_XQUAD` names the folder of its `xquad.<language>.json`. Each
 * sentence is an item, each paragraph a source; what answers a question is the sentence with its answer.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Conversation, Question, Turn } from "./conversations.ts";

const languages = ["en", "de", "es", "ru", "tr", "el", "hi", "zh"];

interface File {
  readonly data: readonly {
    readonly paragraphs: readonly {
      readonly context: string;
      readonly qas: readonly {
        readonly question: string;
        readonly answers: readonly { readonly answer_start: number }[];
      }[];
    }[];
  }[];
}

/** Null where the files are not there. */
export function readArticles(
  say: (line: string) => void,
): { readonly language: string; readonly article: Conversation }[] | null {
  const folder = process.env["LARES_XQUAD"];
  if (folder === undefined || !existsSync(folder)) {
    say("skipped XQuAD: name the folder of github.com/google-deepmind/xquad in LARES_XQUAD.");
    return null;
  }
  return languages.map((language) => {
    const file = JSON.parse(readFileSync(join(folder, `xquad.${language}.json`), "utf8")) as File;
    return { language, article: converted(file, language) };
  });
}

function converted({ data }: File, language: string): Conversation {
  const turns: Turn[] = [];
  const questions: Question[] = [];
  const sentences = new Intl.Segmenter(language, { granularity: "sentence" });
  for (const [at, { context, qas }] of data.flatMap(({ paragraphs }) => paragraphs).entries()) {
    const first = turns.length;
    const starts = [...sentences.segment(context)].map(({ segment, index }) => {
      turns.push({ source: `paragraph ${at}`, timestamp: null, text: segment.trim() });
      return index;
    });
    for (const { question, answers } of qas) {
      const start = answers[0]?.answer_start ?? 0;
      const sentence = starts.findLastIndex((index) => index <= start);
      questions.push({
        text: question,
        category: language,
        evidence: new Set([first + Math.max(0, sentence)]),
      });
    }
  }
  return { name: language, turns, questions };
}
