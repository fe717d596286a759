/*
 * The languages whose words are reduced to stems, with their stop words: Snowball's algorithms and lists, from
 * @orama/stemmers and @orama/stopwords. A text in any other language is indexed by its words as they are.
 */
import { stemmer as arabic } from "@orama/stemmers/arabic";
import { stemmer as danish } from "@orama/stemmers/danish";
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as english } from "@orama/stemmers/english";
import { stemmer as finnish } from "@orama/stemmers/finnish";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as greek } from "@orama/stemmers/greek";
import { stemmer as hungarian } from "@orama/stemmers/hungarian";
import { stemmer as hindi } from "@orama/stemmers/indian";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as norwegian } from "@orama/stemmers/norwegian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as romanian } from "@orama/stemmers/romanian";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stemmer as swedish } from "@orama/stemmers/swedish";
import { stemmer as turkish } from "@orama/stemmers/turkish";
import { stemmer as ukrainian } from "@orama/stemmers/ukrainian";
import { stopwords as arabicStops } from "@orama/stopwords/arabic";
import { stopwords as danishStops } from "@orama/stopwords/danish";
import { stopwords as dutchStops } from "@orama/stopwords/dutch";
import { stopwords as englishStops } from "@orama/stopwords/english";
import { stopwords as finnishStops } from "@orama/stopwords/finnish";
import { stopwords as frenchStops } from "@orama/stopwords/french";
import { stopwords as germanStops } from "@orama/stopwords/german";
import { stopwords as greekStops } from "@orama/stopwords/greek";
import { stopwords as hungarianStops } from "@orama/stopwords/hungarian";
import { stopwords as hindiStops } from "@orama/stopwords/indian";
import { stopwords as italianStops } from "@orama/stopwords/italian";
import { stopwords as norwegianStops } from "@orama/stopwords/norwegian";
import { stopwords as portugueseStops } from "@orama/stopwords/portuguese";
import { stopwords as romanianStops } from "@orama/stopwords/romanian";
import { stopwords as russianStops } from "@orama/stopwords/russian";
import { stopwords as spanishStops } from "@orama/stopwords/spanish";
import { stopwords as swedishStops } from "@orama/stopwords/swedish";
import { stopwords as turkishStops } from "@orama/stopwords/turkish";
import { stopwords as ukrainianStops } from "@orama/stopwords/ukrainian";

/** ISO 639-1 codes. */
export type Language = keyof typeof languages;

interface LanguageWords {
  readonly stem: (word: string) => string;
  readonly stopWords: readonly string[];
}

/** If a text matches several languages equally, the first one counts. */
export const languages = {
  en: { stem: english, stopWords: englishStops },
  de: { stem: german, stopWords: germanStops },
  fr: { stem: french, stopWords: frenchStops },
  es: { stem: spanish, stopWords: spanishStops },
  it: { stem: italian, stopWords: italianStops },
  pt: { stem: portuguese, stopWords: portugueseStops },
  nl: { stem: dutch, stopWords: dutchStops },
  sv: { stem: swedish, stopWords: swedishStops },
  da: { stem: danish, stopWords: danishStops },
  no: { stem: norwegian, stopWords: norwegianStops },
  fi: { stem: finnish, stopWords: finnishStops },
  hu: { stem: hungarian, stopWords: hungarianStops },
  ro: { stem: romanian, stopWords: romanianStops },
  tr: { stem: turkish, stopWords: turkishStops },
  ru: { stem: russian, stopWords: russianStops },
  uk: { stem: ukrainian, stopWords: ukrainianStops },
  el: { stem: greek, stopWords: greekStops },
  ar: { stem: arabic, stopWords: arabicStops },
  hi: { stem: hindi, stopWords: hindiStops },
} as const satisfies Record<string, LanguageWords>;

export const languageCodes = Object.keys(languages) as Language[];
