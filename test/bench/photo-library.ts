import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { exifOf, withExif } from "../support/exif.ts";
import { Bed } from "./bed.ts";

const id = "dev.lares.photos";
const picture = fileURLToPath(
  new URL("../../examples/library/photos/2024/mountain-lake.jpg", import.meta.url),
);

/** Returns how many photos a second pass the metadata stage: read, their EXIF decoded, and noted in the ledger. */
export async function photosPerSecond(count: number, executable?: string): Promise<number> {
  const jpeg = readFileSync(picture);
  const files = Array.from({ length: count }, (_, n) => {
    const taken = new Date(Date.UTC(2024, 0, 1) + n * 1_000_000).toISOString().slice(0, 19);
    const exif = exifOf({
      taken: taken.replace("T", " ").replaceAll("-", ":"),
      at: [41.8 + (n % 50) / 500, 12.4 + (n % 37) / 500],
      make: "Canon",
      model: "Canon EOS R6",
    });
    return [`photos/${String(n % 20)}/IMG_${String(n)}.jpg`, withExif(jpeg, exif)] as const;
  });
  await using bed = await Bed.open({ files: Object.fromEntries(files) }, executable);
  const done = bed.trace("all photos", ({ agent, message, fields }) => {
    return agent === id && message === "time and place noted" && fields?.["photos"] === count;
  });
  const begun = bed.trace("the stage", ({ agent, message, fields }) => {
    return agent === id && message === "reading photos" && fields?.["photos"] === count;
  });
  const { trust } = await bed.bench.status(bed.client);
  await bed.bench.writeLares({ keys: { extensions: [{ id, grants: { locations: ["."] } }] } });
  await bed.bench.accept(bed.client, trust.digest);
  const from = Date.parse((await begun).timestamp);
  return (1000 * count) / (Date.parse((await done).timestamp) - from);
}
