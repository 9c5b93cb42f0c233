import { expect, it } from 'vitest';
// @ts-expect-error a script, which has no types
import { hubPicture } from '../../scripts/docs-picture-hub.mjs';

// With --update, this test writes the file that it otherwise compares.
it('docs/how-to/hub.svg is the picture that scripts/docs-picture-hub.mjs draws', async () => {
  await expect(hubPicture()).toMatchFileSnapshot('../../docs/how-to/hub.svg');
});

it('the picture has a title and a description, colours for both themes, and loads nothing', () => {
  const picture = hubPicture();
  expect(picture).toMatch(/<title id="title">[^<]+<\/title>\n<desc id="desc">[^<]+<\/desc>/);
  expect(picture).toContain('prefers-color-scheme: dark');
  expect(picture.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(/href|url\(|https?:|<script/);
});
