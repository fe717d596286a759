/**
 * Words that say little about a text, question words above all. A small memory has too few texts to learn
 * this from, and statements rarely contain question words. All words are folded. A word that has a meaning in
 * another of these languages ("die", "war", "son") is left out.
 */
const byLanguage = [
  `a about am an and are as at be been being but by can could did do does for from had has have he her here him his how
   i if in is it its just may me might my no not of on or our shall she should so than that the their them then there
   these they this those to us was we were what when where which who whom whose why will with would yes you your`,
  `aber als auch auf aus bei bis da dann das dass dem der des doch du durch ein eine einem einen einer eines er es fur
   habe haben hatte ich ihm ihn ihr ihre im ist ja jetzt kann kein keine mein meine mich mir mit nach nicht noch oder
   sehr sein seine sich sie sind uber um und uns unser unter vom von vor wann warum was weil welche welcher welches wem
   wen wenn wer werden wie wieder wir wird wo wurde zu zum zur`,
  `au aux avec c ce cela ces cette comment d dans de des du elle elles en est et eux il ils j je l la le les leur lui m ma
   mais mes moi mon n ne nos notre nous ou par pas pour pourquoi qu quand que quel quelle qui quoi sa se ses ta te tes tu un une
   vos votre vous`,
  `al como con cual cuando del donde el ella ellas ellos era eso esta este esto fue ha han hasta la las lo los mas mi mis
   muy para pero por porque que quien se si sin sobre su sus tambien una uno y ya yo`,
  `alla anche che chi ci cosa da dal dalla degli dei del della delle di dopo e ed gli ho il io lei loro lui ma mia mio
   nei nel nella noi o per perche piu quale quando quella quello questa questo sono sua sul sulla suo suoi ti tra tuo
   un una vi voi`,
  `ao aos com da das do dos ela elas ele eles em essa esse eu foi isso isto mais mas meu minha na nao nas nos num numa
   onde os ou para pela pelo quem seu sua tem um uma voce`,
  `aan bij dat deze die dit door een en er haar heb hebben heeft het hij hoe hun ik je kan maar met mijn naar niet nog
   om ons ook op over te tot uit van voor waar waarom wanneer wat welke wie wij ze zij zijn zo`,
];

/** Stop words of one language that have a meaning in another. */
const meaningful = new Set(["die", "over", "op", "mais", "era"]);
const stopWords = new Set(
  byLanguage.flatMap((words) => words.split(/\s+/u)).filter((word) => !meaningful.has(word)),
);

export const isStopWord = (word: string): boolean => stopWords.has(word);
