import type { Entry } from "@lares/sdk";
import { maxXmpBytes, readXmp } from "@lares/sdk/xmp";
import type { Stage } from "./batches.ts";
import type { Context } from "./context.ts";
import { fitting } from "./names.ts";
import { stateOf, type StoredSidecar } from "./photo.ts";

const pageSize = 250;
/** A photo `a.jpg` has `a.xmp` and `a.jpg.xmp`; more, of other spellings, are left out. */
const mostOfOne = 2;

/** Bytes of one photo's names as JSON: a page of entries with their fields has to fit one message, also of other agents. */
const maxNamesBytes = 1000;

/** The XMP files of a workspace, by the photos that they are beside. */
class Sidecars {
  readonly #byName = new Map<string, Entry[]>();

  constructor(files: readonly Entry[]) {
    for (const file of files.toSorted((one, other) => (one.path < other.path ? -1 : 1))) {
      const name = file.path.slice(0, -".xmp".length).toLowerCase();
      this.#byName.set(name, [...(this.#byName.get(name) ?? []), file].slice(0, mostOfOne));
    }
  }

  of(photo: string): Entry[] {
    const path = photo.toLowerCase();
    const stem = path.replace(/\.[^./]*$/, "");
    return [...(this.#byName.get(path) ?? []), ...(this.#byName.get(stem) ?? [])].slice(0, mostOfOne);
  }

  /** Returns the state of a photo's sidecars, to be compared with the one that was read; "" if it has none. */
  stateOf(photo: string): string {
    return this.of(photo)
      .map((file) => `${file.id} ${stateOf(file)}`)
      .join(", ");
  }
}

export async function everySidecar(ctx: Context): Promise<Sidecars> {
  const files: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await ctx.vdfs.query({
      kind: "file",
      extension: "xmp",
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    files.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return new Sidecars(files);
}

/** Reads the keywords and people of photos whose sidecars are new, changed or gone. */
export function sidecarStage(sidecars: Sidecars): Stage {
  return {
    field: "sidecar",
    title: (count) => `Note tags and people of ${count === 1 ? "a photo" : `${count} photos`}`,
    begins: "reading sidecars",
    // Parsing the largest ones takes a second each.
    batch: 20,
    needs: ({ path, sidecarState = "" }) => sidecars.stateOf(path) !== sidecarState,
    async read({ path }, ctx): Promise<StoredSidecar> {
      const keywords = new Set<string>();
      const people = new Set<string>();
      for (const file of sidecars.of(path)) {
        if (file.size > maxXmpBytes) continue;
        const said = readXmp(await ctx.vdfs.read(file.path, { length: maxXmpBytes + 1 }));
        for (const keyword of said.keywords) keywords.add(keyword);
        for (const person of said.people) people.add(person);
      }
      return { of: sidecars.stateOf(path), ...fitting(people, keywords, maxNamesBytes) };
    },
  };
}
