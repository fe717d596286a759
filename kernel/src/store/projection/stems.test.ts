import { describe, expect, it } from "vitest";
import { detectedLanguage, indexedTerms, searchedTerms, termMark } from "./stems.ts";
import type { Language } from "./languages.ts";

const isFound = (question: string, text: string, spoken: readonly Language[] = []): boolean => {
  const terms = new Set(indexedTerms(text).terms.split(" "));
  return searchedTerms(question, spoken).some((forms) => forms.some((form) => terms.has(form)));
};

describe("a text is found by another form of its words", () => {
  it.each<[language: string, text: string, question: string]>([
    ["English", "She was running with the dogs", "who runs?"],
    ["German", "Die Häuser stehen an dem Fluss und sind alt", "Haus"],
    ["Spanish", "Los niños no tienen la información de las escuelas", "¿Dónde está la escuela de los niños?"],
    ["French", "Les chevaux mangeaient dans la prairie avec des vaches", "une vache dans les prairies"],
    ["Russian", "Мы говорили о детях и о школах в городе", "что он говорил о школе?"],
    ["Turkish", "Bu evlerin bahçeleri için çok para verdi", "ev ve bahçe için"],
    ["Japanese", "東京都に行きました", "東京"],
  ])("%s", (_, text, question) => {
    expect(isFound(question, text, [indexedTerms(text).language ?? "en"])).toBe(true);
  });
});

it.each<[text: string, language: Language | null]>([
  ["What did she say about the house?", "en"],
  ["Was hat sie über das Haus gesagt?", "de"],
  ["¿Qué dijo ella sobre la casa que tiene?", "es"],
  ["Что она сказала о доме и о нём?", "ru"],
  ["beach sea", null],
  ["東京都", null],
  ["", null],
])("the language of %j is %j", (text, language) => {
  expect(detectedLanguage(text)).toBe(language);
});

it("a question's stop words are left out, unless it has no other words", () => {
  const terms = (text: string): string[] =>
    searchedTerms(text, []).map(([term = ""]) => term.slice(termMark.length));
  expect(terms("What did Caroline say about the house?")).toEqual(["carolin", "sai", "hous"]);
  expect(terms("who are you")).toEqual(["who", "ar", "you"]);
});

it("numbers, paths and identifiers stay whole, and are found by their parts", () => {
  const text = "See src/app/getUserName.ts, version 1.25.3 of 2024-05-12";
  for (const part of ["src/app/getUserName.ts", "getUserName", "user", "1.25.3", "2024-05-12", "25"]) {
    expect([part, isFound(part, text)]).toEqual([part, true]);
  }
  const whole = searchedTerms("1.25.3", []).at(-1) ?? [];
  expect(indexedTerms("1.25.3 is out").terms.split(" ")).toEqual(expect.arrayContaining([...whole]));
  expect(indexedTerms("1.3.25 is out").terms.split(" ")).not.toEqual(expect.arrayContaining([...whole]));
});
