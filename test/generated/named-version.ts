// @ts-expect-error a build script, which has no types
import { addressOf, ownerOf } from '../../scripts/repository.mjs';
import { version } from '../../src/version.ts';
import { textOf } from '../docs/pages.ts';

const owner = ownerOf(addressOf(JSON.parse(textOf('package.json'))));
/** An image's name is in lower case. */
const imageOwner = owner === 'OWNER' ? owner : owner.toLowerCase();

/** Returns a page that names only this version of rungate, and the owner of its repository and image. */
export const withVersion = (page: string): string =>
  page
    .replaceAll(/\brungate@(v?)\d+\.\d+\.\d+(?:-[\w.]*\w)?/g, `rungate@$1${version}`)
    .replaceAll(/(?<=\/releases\/download\/v)\d+\.\d+\.\d+(?:-[\w.]*\w)?/g, version)
    .replaceAll(/\b\d+\.\d+\.\d+(?:-[\w.]*\w)?(?= \(binary, Node)/g, version)
    .replaceAll(/[\w.-]+(?=\/rungate@(?:v\d|<commit>))/g, owner)
    .replaceAll(/[\w.-]+(?=\/rungate\/releases\/download\/)/g, owner)
    .replaceAll(/(?<= --repo )[\w.-]+(?=\/rungate\b)/g, owner)
    .replaceAll(/\bghcr\.io\/[\w.-]+\/rungate(?=[:@])/g, `ghcr.io/${imageOwner}/rungate`)
    .replaceAll(/\b(ghcr\.io\/[\w.-]+\/rungate):\d+\.\d+\.\d+(?:-[\w.]*\w)?/g, `$1:${version}`);
