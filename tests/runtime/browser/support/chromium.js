// The Chromium of this machine, for tests.
import { chromium } from 'playwright-core';

import { which } from '../../../../js/scripts/run.js';

const executablePath = ['chromium', 'chromium-browser', 'google-chrome']
  .map(which)
  .find((path) => path !== null);

/** For the option `skip` of a test that needs it. */
export const noChromium = executablePath ? false : 'there is no Chromium on the PATH';

/** Starts it, headless. Closing it is part of the test. */
export const launchChromium = () =>
  chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
