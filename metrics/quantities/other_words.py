"""Words that two letters which change places, or a doubled letter, turn into other words."""

OTHER_WORDS = frozenset(
    """
    adams addams adler aires albino albion alder alexander alexandre anders andres angel angels angle angles aries arise
    asses assess astor astro ayers ayres ballon balloon bared barely baring barking barley baron barred barring barron
    bases basses beast beats beets being bellow below betts bidding biding biter bitter boast boats bobby boeing boner
    bonner booby boost boots borno boron bowels bowles brain braking brian broke brooke brunt buffet buffett bugle bulge
    burnt calms cameron cameroon canes cannes cannon cannons canon canons canvas canvass carat carbs career careers
    carer carers cares caress carlo carlos carol carols carroll carta carte carter carton cartons cartoon cartoons carve
    carved carving carvings castor castro casual casually causal causally chanel channel chapel chappell cheery cherry
    choose chose christian christina clams claps clasp closest closets clots coast coats colts comas comet commas
    compiled complaint compliant complied comte cooper copper coral corps corral crabs crate crater crave craved craving
    cravings creep crepe crops cures curie currie curse cuter cutter dairy desert deserts dessert desserts devote
    devotee diary diner diners dinner dinners discreet discrete discus discuss domed doomed dugan duggan elector electro
    elias elisa elise elsie employe employee enter entre exist exits farmed farming feast feats fiance fiancee field
    fiend filed files filet filing filings filled fillet filling fillings fined finely finish finley finnish fired fires
    flies forest forester forrest forrester framed framing fried fries garde garnet garnett garret garrett georgian
    georgina gilded giles gilles glided godwin goodwin goran grade great greta griped gripped groan groove grooves grove
    groves handel handle hearst hearts heels hells holiday holliday hooper hoover hoped hoping hopped hopper hopping
    horus hours hover hurst hurts infarction infraction jaime jamie jewel jewell kirsten kristen laing lairs later
    latter leila lelia liang liars liber libre licence licences license licensee licensees licenses lions liter litre
    litter loins looser loosing loser loses losing losses macro macros magna maira manga mantel mantle marco marcos
    maria marian marina marino marion marital marshal marshall martial martian martina mated mater matted matter median
    medina mellon melon merit merritt minuet minute moines monet money monies monte mooney moped mopped mores morse
    mouse mousse needles needless nobel noble norte notre pairs palin paris parish parrish parton pasty patron patsy
    peeking peers peking peres perfect perform picket pickett pilar pillar pined pinned pinot pinto plain planed planing
    planned planning plate platte polled polling polls pooled pooling pools pooped pooping popped popping porto poses
    posse possess prefect preform pride pried princes princess proto quiet quite raged ragged raped raping rapped
    rapping refuge refugee refugees refuges retire retiree retirees retires ridding riding robbed robbins robed robins
    roost rooster roosters rooted rooting roots roster rosters rotted rotting sabah sabha sacred salon saloon salted
    salter salve satin scared scaring scarlet scarlett scarred scarring scotus scouts scraped scraping scrapped
    scrapping shoots shots signing signs silver simmons simons singing sings siting sitting slated slater slave sliver
    sloping slopping smoother smother soils solis spares sparing sparring sparse spilt split stain stared staring
    starred starring start steeped steeping stepped stepping strat striped striping stripped stripping stubbs stubs
    super supper taped taping tapped tapping tenant tennant there theres thorne three threes throne tiers tilted tired
    tires titled tolls tones tonnes tools trail trails trial trials tried tries unite united untie untied viola voila
    wagging waging waist waits wedding weeding weiner welcome wellcome whooping whopping wiener winer wining winner
    winning yeast yeats
    """.split()  # noqa: SIM905
)
