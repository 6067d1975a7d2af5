"""Turn utilities into choices and measure how good they are."""
