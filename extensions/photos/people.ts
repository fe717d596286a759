import type { Photo } from "./photo.ts";

/**
 * Returns the photos with a person's name: as a tag `person:<name>` or `#person:<name>`, or in a sidecar, whatever its case and
 * accents.
 */
export function namedIn(photos: readonly Photo[], name: string): Photo[] {
  const wanted = folded(name);
  return photos.filter(
    ({ tags, people = [] }) =>
      people.some((person) => folded(person) === wanted) ||
      tags.some((tag) => {
        const person = /^#?person:(.*)$/i.exec(tag)?.[1];
        return person !== undefined && folded(person) === wanted;
      }),
  );
}

/**
 * Returns the photos with a tag, or with a keyword in a sidecar: the whole of it, its last level, or the levels at its beginning,
 * so that "Italy", "Rome" and "Italy/Rome" find the keyword "Italy/Rome".
 */
export function taggedWith(photos: readonly Photo[], tag: string): Photo[] {
  const wanted = folded(tag.replace(/^#/, ""));
  return photos.filter(
    ({ tags, keywords = [] }) =>
      tags.some((one) => folded(one.replace(/^#/, "")) === wanted) ||
      keywords.some((keyword) => {
        const whole = folded(keyword);
        return whole === wanted || whole.startsWith(`${wanted}/`) || whole.endsWith(`/${wanted}`);
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
