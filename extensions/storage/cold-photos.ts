import { looksLike, type ColdFile, type ColdPhoto } from "./cold.ts";
import type { Context } from "./context.ts";
import { isPicture, patienceMs, photosTool, shown, whyUnknown } from "./photos.ts";

/** The tool that says which photos look the same. */
const duplicatesTool = "dev.lares.photos/duplicates";
/** Paths of one call, and groups of one answer, as the tools' parameters allow. */
const maxPaths = 200;
const maxGroups = 500;
const maxOfGroup = 1_000;

interface AboutCold {
  readonly about: ReadonlyMap<string, ColdPhoto>;
  /** Why the photos agent gave no answer, as a sentence; null if it answered or need not be asked. */
  readonly note: string | null;
}

/** Asks the photos agent which cold photos should stay, and which look the same as another. */
export async function askAboutCold(ctx: Context, cold: readonly ColdFile[]): Promise<AboutCold> {
  const paths = cold.map(({ path }) => path).filter(isPicture);
  const about = new Map<string, ColdPhoto>();
  if (paths.length === 0) return { about, note: null };
  const { tools, trace, signal } = ctx;
  // One limit for all calls: an agent that does not answer must not hold up what is suggested.
  const options = { signal: AbortSignal.timeout(patienceMs) };
  try {
    const groups: unknown = await tools.call(duplicatesTool, { limit: maxGroups }, options);
    for (const [path, other] of looksLike(groupsIn(groups), cold)) about.set(path, { looksLike: other });
    for (let from = 0; from < paths.length; from += maxPaths) {
      const asked = paths.slice(from, from + maxPaths);
      const answer: unknown = await tools.call(photosTool, { paths: asked }, options);
      for (const [path, stays] of staysIn(answer, new Set(asked))) about.set(path, { stays });
    }
    return { about, note: null };
  } catch (error) {
    signal.throwIfAborted();
    const { sentence, isUsual } = whyUnknown(error);
    if (isUsual) trace.info(sentence);
    else trace.warn(sentence, { error: error instanceof Error ? error.message : String(error) });
    // With only some of the answers, photos would stay or go for no reason that a person could see.
    return { about: new Map(), note: sentence };
  }
}

/** Another agent's answer may be anything. Throws if it has another shape. */
function groupsIn(answer: unknown): string[][] {
  if (!Array.isArray(answer)) throw new Error("The answer is not a list.");
  return (answer.slice(0, maxGroups) as readonly unknown[]).map((group) => {
    if (!Array.isArray(group)) throw new Error("The answer lists something other than groups.");
    return (group.slice(0, maxOfGroup) as readonly unknown[]).filter((path) => typeof path === "string");
  });
}

function staysIn(answer: unknown, asked: ReadonlySet<string>): Map<string, string> {
  if (!Array.isArray(answer)) throw new Error("The answer is not a list.");
  const stays = new Map<string, string>();
  for (const one of answer.slice(0, maxPaths) as readonly unknown[]) {
    if (typeof one !== "object" || one === null)
      throw new Error("The answer lists something other than photos.");
    const { path, albums, memory } = one as Readonly<Record<"path" | "albums" | "memory", unknown>>;
    if (typeof path !== "string" || !asked.has(path)) continue;
    const [album] = Array.isArray(albums) ? (albums as readonly unknown[]) : [];
    if (typeof album === "string") stays.set(path, `it is in the album "${shown(album)}"`);
    else if (typeof memory === "string") stays.set(path, `it is in the memory "${shown(memory)}"`);
  }
  return stays;
}
