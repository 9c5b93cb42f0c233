import type { Choices, Draw } from './draw.ts';

const given: Choices<string> = [
  'Anna',
  'Zoë',
  'José',
  'Björn',
  'Siobhán',
  'Priya',
  'Łukasz',
  'Chloé',
  'Mateus',
  'Freya',
  'Oğuz',
  'Ivana',
  'Noah',
  'Grace',
];

const family: Choices<string> = [
  'Müller',
  'García Núñez',
  "O'Brien",
  'Nowak',
  'Sørensen',
  'Dupont-Lefèvre',
  'Patel',
  'Ångström',
  'Ng',
  'Yılmaz',
  'Dvořák',
  'Okonkwo',
  'Rossi',
  'Thompson',
];

/** Names that are not a given and a family name in Latin letters, and those a program stumbles over. */
const others: Choices<string> = [
  '田中 美咲',
  '이서준',
  'Νίκος Παπαδόπουλος',
  'Олена Шевченко',
  'نور حداد',
  'Kávé & Társa Kft.',
  'Baker, Reed "& Sons"',
  'Nguyễn Thị Hồng Nhung',
  'Null Object GmbH',
];

export function customerName(draw: Draw): string {
  return draw.chance(0.2) ? draw.pick(others) : `${draw.pick(given)} ${draw.pick(family)}`;
}
