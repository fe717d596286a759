import { nobody } from "./face-clusters.ts";
import type { Photo } from "./photo.ts";

/** The names that a person gave to people whose faces were found, by their ids. */
type GivenNames = Readonly<Record<string, string>>;

/** Somebody in photos. */
export interface FoundPerson {
  /** The name in a comparable form, or the faces' id for an unnamed person. */
  readonly id: string;
  readonly name?: string;
  /** The ids that this person's faces have: none where only tags and sidecars name the person. */
  readonly faces: readonly string[];
  readonly photos: readonly Photo[];
}

/** A longer text is not a name. */
export const maxNameLength = 200;

/**
 * Returns the people in photos, those in most photos first: by tags, by sidecars, and by their faces. All of one name, whatever
 * its case and accents, are one person.
 */
export function peopleIn(photos: readonly Photo[], names: GivenNames): FoundPerson[] {
  const people = new Map<
    string,
    { spellings: Map<string, number>; faces: Set<string>; photos: Set<Photo> }
  >();
  const personOf = (key: string) => {
    const known = people.get(key) ?? { spellings: new Map(), faces: new Set(), photos: new Set() };
    people.set(key, known);
    return known;
  };
  for (const photo of photos) {
    for (const name of namesOf(photo)) {
      const person = personOf(idOf(name));
      person.spellings.set(name, (person.spellings.get(name) ?? 0) + 1);
      person.photos.add(photo);
    }
    for (const id of facesOf(photo)) {
      const name = nameOf(id, names);
      const person = personOf(name === undefined ? `face ${id}` : idOf(name));
      // The person's own spelling counts, whatever others wrote.
      if (name !== undefined) person.spellings.set(name, Number.POSITIVE_INFINITY);
      person.faces.add(id);
      person.photos.add(photo);
    }
  }
  return [...people]
    .map(([key, { spellings, faces, photos: found }]): FoundPerson => {
      const [best] = [...spellings].toSorted(
        ([one, count], [other, more]) => more - count || (one < other ? -1 : 1),
      );
      const ids = [...faces].toSorted();
      return {
        id: best === undefined ? (ids[0] ?? key) : key,
        ...(best === undefined ? {} : { name: best[0] }),
        faces: ids,
        photos: [...found],
      };
    })
    .toSorted((one, other) => other.photos.length - one.photos.length || (one.id < other.id ? -1 : 1));
}

/** Returns the names in a photo's tags and sidecars. */
function namesOf({ tags, people = [] }: Photo): string[] {
  const tagged = tags.flatMap((tag) => /^#?person:(.*)$/is.exec(tag)?.[1] ?? []);
  return [...new Set([...tagged, ...people].map((name) => name.trim()))].filter(isName);
}

export function isName(name: string): boolean {
  return name.length <= maxNameLength && idOf(name) !== "";
}

/** Returns the ids of the faces in a photo, each once. */
function facesOf({ faces }: Photo): string[] {
  return [...new Set(faces?.people)].filter((id) => id !== "" && id !== nobody);
}

export function nameOf(id: string, names: GivenNames): string | undefined {
  return Object.hasOwn(names, id) ? names[id] : undefined;
}

/**
 * Returns the photos with a person's name: as a tag `person:<name>` or `#person:<name>`, in a sidecar, or given to a face, whatever
 * its case and accents.
 */
export function namedIn(photos: readonly Photo[], name: string, names: GivenNames = {}): Photo[] {
  const wanted = folded(name);
  const faces = new Set(Object.keys(names).filter((id) => folded(nameOf(id, names) ?? "") === wanted));
  return photos.filter(
    (photo) =>
      namesOf(photo).some((one) => folded(one) === wanted) || facesOf(photo).some((id) => faces.has(id)),
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

export function folded(name: string): string {
  return name
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[\s_-]+/g, " ")
    .trim()
    .toLowerCase();
}

/** Returns the id of a person by the name: the same for all spellings of a name; "" for an empty name. */
export function idOf(name: string): string {
  return folded(name).replaceAll(" ", "-");
}
