"""Names in a checkpoint's folder, by which its kind is found before anything is imported that only one kind needs."""

AUTHORS_CONFIG, AUTHORS_WEIGHTS = "model_config.json", "max_diff.pth"  # file names in Siran-Li/MATCHA
KIND = "matcha"  # key in the config.json of a contextual checkpoint
TOKENIZER = "tokenizer.json"
