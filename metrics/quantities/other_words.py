"""Words that two letters which change places, or a doubled letter, turn into other words."""

OTHER_WORDS = frozenset(
    """
    there three unite untie raped rapped lions loins burnt brunt minute minuet pride pried casually causally
    liars lairs preform perform below bellow bases basses riding ridding bitter biter sitting siting leila lelia
    maira maria sabah sabha address addressee albino albion angel angels angle angles asses assess astro ballon
    balloon bared barely baring barking barley baron barred barring barron beast beats beets being betts bidding
    biding boast boats bobby boeing booby boost boots bowels bowles brain braking brian broke brooke buffet
    buffett bugle bulge calms cameron cameroon canes cannes cannon cannons canon canons canvas canvass carat
    carbs career careers carer carers cares caress carlo carol carta carte carter carton cartoon carve carved
    carving carvings castor castro casual causal chanel channel cheery cherry choose chose christian christina
    clams claps clasp closest closets clots coast coats colts comas comet comma commas commits committee
    compiled complaint compliant complied comte cooper copper coral corps corral crabs crate crater crave craved
    craving cravings crops cures curse cuter cutter dairy denies denise desert deserts dessert desserts devote
    devotee diary diner diners dinner dinners discreet discrete discus discuss domed doomed elector electro
    elias elisa elise elsie employe employee enter entre exist exits farmed farming feast feats fiance fiancee
    field fiend filed files filet filing filings filled fillet filling fillings fined finely finish finley
    finnish fired fires flies forest forrest framed framing fried fries garde garnet garnett georgian georgina
    gilded glided goods goran grade great greta griped gripped groan groove grooves grove groves handel handle
    hearst hearts heels hells holiday holliday hooper hoover hoped hoping hopped hopper hopping hover hurst
    hurts infarction infraction later latter licences license licensee licensees licenses liter litre litter
    looser loosing loser loses losing losses macro magna manga mantel mantle marco marian marina marino marion
    marital marshal marshall martial martian martina mated mater matted matter median medina mellon melon merit
    merritt moines monet money monies monte mooney moped mopped mores morse mouse mousse needles needless nobel
    noble pairs palin parental paris parish parrish parton pasty patron patsy peeking peking perfect picket
    pickett pilar pillar pined pinned pinot pinto plain planed planing planned planning polled polling polls
    pooled pooling pools pooped pooping popped popping porto poses possess prefect premise premiss prenatal
    princes princess proto quiet quite raged ragged raping rapping refuge refugee refugees refuges retire
    retiree retirees retires robbed robbins robed robins rogue roost rooster roosters rooted rooting roots
    roster rosters rotted rotting rouge sacred saint salon saloon salted salter salve satin scared scaring
    scarlet scarlett scarred scarring scraped scraping scrapped scrapping shoots shots signing signs silver
    singing sings slated slater slave sliver sloping slopping smoother smother spares sparing sparring sparse
    spilt split stain stared staring starred starring start steep steeped steeping stepped stepping strat
    striped striping stripped stripping super supper taped taping tapped tapping tenant tennant their thorne
    throne tiers tilted tired tires titled tolls tones tonnes tools trail trails treaties treatise trial trials
    tried tries trusted trustee united untied villa viola voila wagging waging waist waits wedding weeding
    welcome wellcome whooping whopping winer wining winner winning
    """.split()  # noqa: SIM905
)
