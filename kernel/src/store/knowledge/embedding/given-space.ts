import { joinPath, makeFolder, removeFolder } from "../../../platform/files/data-files.ts";
import type { EngineChoice } from "../../../memory-contract/store-settings.ts";
import { givenDimensions } from "./given.ts";
import { Serving } from "./serving.ts";
import { type SpaceOptions, VectorSpace } from "./vector-space.ts";

/**
 * Returns what serves the embeddings that agents bring, with the dimensions of the oldest one; `serving`
 * itself if nothing has changed. The index has a folder of its own beneath `folder`.
 */
export async function givenServing(
  serving: Serving,
  options: Pick<SpaceOptions, "database" | "engines">,
  folder: string,
  choice: EngineChoice,
): Promise<Serving> {
  const [oldest] = await options.database.all<{ space: string }>(
    "SELECT space FROM knowledge_vectors WHERE starts_with(space, 'given:') ORDER BY item_row, label LIMIT 1",
  );
  const name = oldest?.space ?? "";
  const given = joinPath(folder, "given");
  const dimensions = givenDimensions(name);
  // The old files may contain data that has been forgotten.
  if (dimensions === null) await removeFolder(given);
  if (name === serving.name) return serving;
  if (dimensions === null) return new Serving(name, null, null);
  await makeFolder(given);
  const space = await VectorSpace.open({ ...options, name, dimensions, folder: given }, choice);
  return new Serving(name, null, space);
}
