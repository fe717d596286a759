import type { Photo } from "./photo.ts";

/** Returns the photos with the tag `person:<name>` or `#person:<name>`, whatever its case and accents. */
export function namedIn(photos: readonly Photo[], name: string): Photo[] {
  const wanted = folded(name);
  return photos.filter(({ tags }) =>
    tags.some((tag) => {
      const person = /^#?person:(.*)$/i.exec(tag)?.[1];
      return person !== undefined && folded(person) === wanted;
    }),
  );
}

function folded(name: string): string {
  return name
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[\s_-]+/g, " ")
    .trim()
    .toLowerCase();
}
